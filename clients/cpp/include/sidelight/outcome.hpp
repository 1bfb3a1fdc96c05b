// Copyright the Sidelight authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <sidelight/v1/session.pb.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "error.hpp"

namespace sidelight {

/// The properties of every frame that comes back.
struct ReturnedFrame {
  /// The number of the frame, as `Session::offer` returned it.
  std::uint64_t sequence = 0;
  /// The picture, with pixels in `image.inline_()` unless the session only analyses.
  v1::Image image;
  /// The revision of the pipeline that was in force.
  std::uint64_t revision = 0;
  /// The time that the server spent on the frame.
  v1::FrameTiming timing;
  /// The capture time that was sent, in nanoseconds.
  std::int64_t capture_time_ns = 0;
  /// The RTP timestamp that was sent.
  std::uint32_t rtp_timestamp = 0;
};

/// The pipeline filtered the frame.
struct Filtered : ReturnedFrame {};

/// The frame came back unchanged: the pipeline has no effect, the session is paused, or a stage
/// failed.
struct PassedThrough : ReturnedFrame {
  /// The failure of a stage, if that is why the frame is unchanged.
  std::optional<Error> failure;
};

/// A cheaper variant of the pipeline filtered the frame, or a blur replaces it.
struct Degraded : ReturnedFrame {
  /// The failure of a stage, if that is why the picture is a blur.
  std::optional<Error> failure;
};

/// The reason why a frame did not come back.
enum class DropReason {
  // The reasons of the server, with the numbers of `v1::DropReason`.
  unspecified = 0,
  superseded = 1,
  queue_full = 2,
  late_on_arrival = 3,
  late_in_pipeline = 4,
  late_on_output = 5,
  no_credit = 6,
  rate_limited = 7,
  paused = 8,
  invalid_frame = 9,
  stage_failed = 10,
  draining = 11,
  output_superseded = 12,
  not_decodable = 13,
  /// A newer frame replaced it in this client, before it was sent.
  superseded_in_client = 1000,
  /// The session ended before its outcome arrived.
  disconnected = 1001,
};

/// One or more consecutive frames that were dropped for the same reason.
struct Dropped {
  /// The number of the first frame.
  std::uint64_t first_sequence = 0;
  /// The number of the last frame.
  std::uint64_t last_sequence = 0;
  /// The number of frames.
  std::uint64_t count = 0;
  DropReason reason = DropReason::unspecified;
  /// The time by which the last frame was late, in microseconds; 0 if time was not the reason.
  std::uint32_t late_us = 0;
  /// The error, for invalid frames and failed stages.
  std::optional<Error> diagnostic;
};

/// The outcome of a frame, or of a run of dropped frames.
using Outcome = std::variant<Filtered, PassedThrough, Degraded, Dropped>;

/// Combines lambdas into a visitor: `std::visit(overloaded{...}, outcome)`.
template <class... Lambdas>
struct overloaded : Lambdas... {
  using Lambdas::operator()...;
};
template <class... Lambdas>
overloaded(Lambdas...) -> overloaded<Lambdas...>;

/// Returns the name of a reason, as the contract writes it.
inline std::string name(DropReason reason) {
  switch (reason) {
    case DropReason::superseded_in_client: return "SUPERSEDED_IN_CLIENT";
    case DropReason::disconnected: return "DISCONNECTED";
    default: break;
  }
  const auto full = v1::DropReason_Name(static_cast<v1::DropReason>(reason));
  constexpr std::size_t prefix = sizeof("DROP_REASON_") - 1;
  return full.size() > prefix ? full.substr(prefix) : "UNKNOWN";
}

/// Converts the outcome of a frame that comes back; moves the pixels.
inline Outcome to_outcome(v1::FilteredFrame&& frame) {
  const auto fill = [&](ReturnedFrame& result) {
    result.sequence = frame.sequence();
    result.image = std::move(*frame.mutable_image());
    result.revision = frame.revision();
    result.timing = frame.timing();
    result.capture_time_ns = frame.capture_time_ns();
    result.rtp_timestamp = frame.rtp_timestamp();
  };
  std::optional<Error> failure;
  if (frame.has_failure()) failure.emplace(frame.failure());
  switch (frame.disposition()) {
    case v1::DISPOSITION_PASSED_THROUGH: {
      PassedThrough result;
      fill(result);
      result.failure = std::move(failure);
      return result;
    }
    case v1::DISPOSITION_DEGRADED: {
      Degraded result;
      fill(result);
      result.failure = std::move(failure);
      return result;
    }
    default: {
      Filtered result;
      fill(result);
      return result;
    }
  }
}

/// Converts a run of dropped frames.
inline Dropped to_outcome(const v1::Dropped& run) {
  Dropped result;
  result.first_sequence = run.first_sequence();
  result.last_sequence = run.last_sequence();
  result.count = run.count();
  result.reason = static_cast<DropReason>(run.reason());
  result.late_us = run.late_us();
  if (run.has_diagnostic()) result.diagnostic.emplace(run.diagnostic());
  return result;
}

}  // namespace sidelight
