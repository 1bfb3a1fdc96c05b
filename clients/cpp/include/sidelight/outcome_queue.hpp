// Copyright the Sidelight authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "outcome.hpp"

namespace sidelight::detail {

/// The frames without an outcome, and the outcomes that are not taken, in the order of the frames.
///
/// A frame has a credit from `sent` until its outcome is taken, so a slow reader of outcomes slows
/// the frames. Drops in the client merge with their neighbours: the queue has at most one run of
/// them between two frames with a credit.
class OutcomeQueue {
 public:
  /// Sets the number of credits.
  void set_capacity(std::size_t capacity) { capacity_ = capacity; }

  /// Whether another frame may be sent.
  bool has_credit() const { return outstanding_ < capacity_; }

  /// Whether every outcome has been taken.
  bool empty() const { return entries_.empty(); }

  /// Whether the outcome of the oldest frame is known.
  bool ready() const { return !entries_.empty() && entries_.front().outcome.has_value(); }

  /// Adds a frame that is being sent.
  void sent(std::uint64_t sequence) {
    entries_.push_back({sequence, true, std::nullopt});
    ++outstanding_;
  }

  /// Adds a frame that is dropped before it is sent.
  void dropped_in_client(std::uint64_t sequence, DropReason reason) {
    if (!entries_.empty() && !entries_.back().has_credit) {
      auto& run = std::get<Dropped>(*entries_.back().outcome);
      if (run.reason == reason) {
        run.last_sequence = sequence;
        ++run.count;
        return;
      }
    }
    entries_.push_back({sequence, false, drop(sequence, reason)});
  }

  /// Sets the outcome of a frame that came back. Frames that are not in flight are ignored.
  void returned(v1::FilteredFrame&& frame) {
    for (auto& entry : entries_) {
      if (entry.outcome || entry.sequence != frame.sequence()) continue;
      entry.outcome = to_outcome(std::move(frame));
      return;
    }
  }

  /// Sets the outcome of every frame of a run that the server dropped.
  void dropped(const v1::Dropped& run) {
    for (auto& entry : entries_) {
      if (entry.outcome || entry.sequence < run.first_sequence() ||
          entry.sequence > run.last_sequence()) {
        continue;
      }
      auto outcome = to_outcome(run);
      outcome.first_sequence = outcome.last_sequence = entry.sequence;
      outcome.count = 1;
      entry.outcome = std::move(outcome);
    }
  }

  /// Ends every frame that has no outcome.
  void disconnect() {
    for (auto& entry : entries_) {
      if (!entry.outcome) entry.outcome = drop(entry.sequence, DropReason::disconnected);
    }
  }

  /// Takes the outcome of the oldest frame, and returns its credit. Requires `ready()`.
  Outcome take() {
    auto outcome = std::move(*entries_.front().outcome);
    if (entries_.front().has_credit) --outstanding_;
    entries_.pop_front();
    return outcome;
  }

 private:
  struct Entry {
    std::uint64_t sequence;
    bool has_credit;
    std::optional<Outcome> outcome;
  };

  static Dropped drop(std::uint64_t sequence, DropReason reason) {
    Dropped result;
    result.first_sequence = result.last_sequence = sequence;
    result.count = 1;
    result.reason = reason;
    return result;
  }

  std::deque<Entry> entries_;
  std::size_t capacity_ = 0;
  std::size_t outstanding_ = 0;
};

}  // namespace sidelight::detail
