// Copyright the Sidelight authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "session_core.hpp"

namespace sidelight {

/// A participant's video track that a server filters. All methods may be called from any thread.
///
/// Every offered frame has exactly one outcome, in the order of the frames. Nothing is queued
/// without a bound: one frame waits for a credit, and outcomes that are not taken hold credits.
/// The destructor cancels the call; `finish` ends it in order.
class Session {
 public:
  explicit Session(std::unique_ptr<detail::SessionCore> core) : core_(std::move(core)) {}

  /// The options in force, and the limits of the server.
  v1::Opened opened() const { return core_->opened(); }

  /// The newest token that restores the session, also after it ended.
  std::string resume_token() const { return core_->resume_token(); }

  /// Whether the call is open. A session that ended keeps the outcomes that are not taken.
  bool is_open() const { return core_->is_open(); }

  /// The reason why the session ended before `finish`, if it did.
  std::optional<Error> error() const { return core_->error(); }

  /// Offers a frame, and returns its number. Under `newest_wins` it replaces the waiting frame and
  /// never waits; under `never_drop` it waits for room, so take outcomes on another thread. Throws
  /// `std::logic_error` after `finish`.
  std::uint64_t offer(v1::Image image) {
    v1::Frame frame;
    *frame.mutable_image() = std::move(image);
    return offer(std::move(frame));
  }

  /// Offers a frame with capture time, RTP timestamp, priority or tags. Its number is replaced.
  std::uint64_t offer(v1::Frame frame) { return core_->offer(std::move(frame)); }

  /// Waits for the next outcome. Returns `std::nullopt` if the session has ended and all were
  /// taken.
  std::optional<Outcome> next() {
    return core_->take(std::optional<std::chrono::steady_clock::time_point>());
  }

  /// Waits up to a time for the next outcome. Returns `std::nullopt` if there was none, or the
  /// session has ended.
  std::optional<Outcome> next_for(std::chrono::nanoseconds time) {
    return core_->take(std::make_optional(std::chrono::steady_clock::now() + time));
  }

  /// Replaces the pipeline for the frames that are sent afterwards, and returns its revision.
  ///
  /// Throws `Error` with the position and a suggestion if the text is invalid; the pipeline in
  /// force then stays. Without a transition the pipeline changes from one frame to the next.
  std::uint64_t select(const std::string& pipeline,
                       const std::optional<v1::Transition>& transition = std::nullopt) {
    v1::ClientMessage message;
    message.mutable_select()->set_pipeline_text(pipeline);
    if (transition) *message.mutable_select()->mutable_transition() = *transition;
    return change(std::move(message), &v1::ClientMessage::mutable_select);
  }

  /// Replaces the pipeline.
  std::uint64_t select(v1::Pipeline pipeline,
                       const std::optional<v1::Transition>& transition = std::nullopt) {
    v1::ClientMessage message;
    *message.mutable_select()->mutable_pipeline() = std::move(pipeline);
    if (transition) *message.mutable_select()->mutable_transition() = *transition;
    return change(std::move(message), &v1::ClientMessage::mutable_select);
  }

  /// Changes parameters of a stage, by its ID or position (`stages[0]`), and returns the revision.
  /// With a glide they move to their values over time.
  std::uint64_t update(const std::string& stage,
                       const std::map<std::string, v1::ParameterValue>& parameters,
                       const std::optional<v1::Glide>& glide = std::nullopt) {
    v1::ClientMessage message;
    if (glide) *message.mutable_update()->mutable_glide() = *glide;
    auto& change_of_stage = *message.mutable_update()->add_stages();
    change_of_stage.set_stage(stage);
    for (const auto& [name, value] : parameters) {
      (*change_of_stage.mutable_parameters())[name] = value;
    }
    return change(std::move(message), &v1::ClientMessage::mutable_update);
  }

  /// Changes a number of a stage.
  std::uint64_t update(const std::string& stage, const std::string& parameter, double number,
                       const std::optional<v1::Glide>& glide = std::nullopt) {
    v1::ParameterValue value;
    value.set_number(number);
    return update(stage, {{parameter, value}}, glide);
  }

  /// Activates or deactivates stages by their IDs or positions, and returns the revision.
  std::uint64_t activate(const std::map<std::string, bool>& stages,
                         const std::optional<v1::Transition>& transition = std::nullopt) {
    v1::ClientMessage message;
    if (transition) *message.mutable_activate()->mutable_transition() = *transition;
    message.mutable_activate()->mutable_stages()->insert(stages.begin(), stages.end());
    return change(std::move(message), &v1::ClientMessage::mutable_activate);
  }

  /// Pauses filtering. Frames are dropped, or come back unchanged.
  void pause(bool pass_through = false) {
    v1::ClientMessage message;
    message.mutable_pause()->set_pass_through(pass_through);
    core_->post(std::move(message));
  }

  /// Ends a pause.
  void resume() {
    v1::ClientMessage message;
    message.mutable_resume();
    core_->post(std::move(message));
  }

  /// Ends the session after the frames that were offered. Their outcomes can still be taken.
  void finish() { core_->finish(); }

 private:
  template <class Change>
  std::uint64_t change(v1::ClientMessage&& message, Change* (v1::ClientMessage::*mutable_kind)()) {
    const auto request_id = core_->next_request_id();
    (message.*mutable_kind)()->set_request_id(request_id);
    return core_->change(std::move(message), request_id);
  }

  std::unique_ptr<detail::SessionCore> core_;
};

}  // namespace sidelight
