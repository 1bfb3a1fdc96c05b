// Copyright the Sidelight authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <sidelight/v1/session.pb.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sidelight {

/// The choice of frames to drop when they arrive faster than they can be filtered.
enum class DropPolicy {
  /// The newest frame is kept, in this client and in the server; `Session::offer` never waits. For
  /// live video.
  newest_wins,
  /// No frame is dropped for lack of time; `Session::offer` waits. For files.
  never_drop,
};

/// The options of a session.
struct SessionOptions {
  /// The pipeline as text: `sepiaTone(intensity: 0.8), vignette`. Empty: frames pass through.
  std::string pipeline;
  /// The name of the track, for logs and operators.
  std::string label;
  /// The participant in the video. Empty: the caller itself.
  std::string participant;
  /// The filters that the session may use: names, or prefixes that end in `*`. Without a list the
  /// session may use all filters; an empty list permits none.
  std::optional<std::vector<std::string>> allowed_filters;
  DropPolicy drop_policy = DropPolicy::newest_wins;
  /// The time from receipt of a frame until its result is useless, less than 71 minutes. 0 disables
  /// the limit.
  std::chrono::microseconds budget{0};
  /// The handling of frames for which a stage fails.
  v1::FailurePolicy failure_policy = v1::FAILURE_POLICY_PASS_THROUGH;
  /// Whether the server may use cheaper variants of the pipeline before it drops frames.
  bool allow_degraded = false;
  /// The token of an earlier session, which restores its pipeline; `pipeline` is then ignored.
  std::string resume_token;
  /// The time to wait for the server to open the session, and to take and answer a change.
  std::chrono::milliseconds answer_timeout{10'000};
  /// Receives all other messages of the server: analyses, counts, state, `applied`, advice.
  ///
  /// The thread that reads from the server calls it: it must return quickly, must not throw, and
  /// must neither call the session's methods that wait, nor destroy the session.
  std::function<void(const v1::ServerMessage&)> on_event;
};

}  // namespace sidelight
