// Copyright the Sidelight authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <grpcpp/client_context.h>
#include <sidelight/v1/frame_filter.grpc.pb.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "error.hpp"
#include "options.hpp"
#include "outcome_queue.hpp"

namespace sidelight::detail {

/// The call of a session, a thread that writes to it and a thread that reads from it.
///
/// Only one thread writes, because gRPC allows one write at a time. Control messages are written
/// first, then the newest frame, if it has a credit. The destructor cancels the call.
class SessionCore {
 public:
  /// The maximum number of control messages that wait to be written.
  static constexpr std::size_t max_waiting_controls = 64;

  SessionCore(v1::FrameFilter::Stub& stub, std::unique_ptr<grpc::ClientContext> context,
              SessionOptions options, v1::ClientMessage open)
      : options_(std::move(options)), context_(std::move(context)) {
    stream_ = stub.Process(context_.get());
    controls_.push_back(std::move(open));
    reader_ = std::thread([this] { read(); });
    writer_ = std::thread([this] { write(); });
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, options_.answer_timeout, [&] { return opened_ || ended_; });
    if (opened_) return;
    auto error = error_.value_or(
        Error(grpc::StatusCode::DEADLINE_EXCEEDED, "the server did not open the session in time"));
    lock.unlock();
    stop();
    throw error;
  }

  SessionCore(const SessionCore&) = delete;
  SessionCore& operator=(const SessionCore&) = delete;

  ~SessionCore() { stop(); }

  std::uint64_t offer(v1::Frame&& frame) {
    std::unique_lock lock(mutex_);
    if (finishing_) throw std::logic_error("a frame was offered after finish()");
    if (options_.drop_policy == DropPolicy::never_drop) {
      changed_.wait(lock, [&] { return !waiting_ || ended_; });
    }
    const auto sequence = ++sequence_;
    if (ended_) {
      queue_.dropped_in_client(sequence, DropReason::disconnected);
    } else {
      if (waiting_) {
        queue_.dropped_in_client(waiting_->frame().sequence(), DropReason::superseded_in_client);
      }
      frame.set_sequence(sequence);
      waiting_.emplace();
      *waiting_->mutable_frame() = std::move(frame);
    }
    changed_.notify_all();
    return sequence;
  }

  /// Takes the next outcome; waits for it until the deadline, if there is one.
  template <class Deadline>
  std::optional<Outcome> take(const std::optional<Deadline>& deadline) {
    std::unique_lock lock(mutex_);
    const auto decided = [&] { return queue_.ready() || ended_; };
    if (!deadline) {
      changed_.wait(lock, decided);
    } else {
      changed_.wait_until(lock, *deadline, decided);
    }
    if (!queue_.ready()) return std::nullopt;
    auto outcome = queue_.take();
    changed_.notify_all();
    return outcome;
  }

  /// Writes a control message.
  void post(v1::ClientMessage&& message) {
    std::unique_lock lock(mutex_);
    enqueue(lock, std::move(message), std::chrono::steady_clock::now() + options_.answer_timeout);
  }

  /// Writes a change of the pipeline, and waits for its revision.
  std::uint64_t change(v1::ClientMessage&& message, std::uint64_t request_id) {
    std::unique_lock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + options_.answer_timeout;
    enqueue(lock, std::move(message), deadline);
    answers_[request_id];
    changed_.wait_until(lock, deadline, [&] { return answers_[request_id].arrived || ended_; });
    const auto answer = std::move(answers_[request_id]);
    answers_.erase(request_id);
    if (answer.error) throw *answer.error;
    if (answer.arrived) return answer.revision;
    if (ended_) throw ended_error();
    throw Error(grpc::StatusCode::DEADLINE_EXCEEDED,
                "the server did not answer the change in time");
  }

  std::uint64_t next_request_id() {
    const std::lock_guard lock(mutex_);
    return ++request_id_;
  }

  void finish() {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
    changed_.notify_all();
  }

  v1::Opened opened() const {
    const std::lock_guard lock(mutex_);
    return *opened_;
  }

  std::string resume_token() const {
    const std::lock_guard lock(mutex_);
    return resume_token_;
  }

  bool is_open() const {
    const std::lock_guard lock(mutex_);
    return !ended_;
  }

  std::optional<Error> error() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }

 private:
  struct Answer {
    bool arrived = false;
    std::uint64_t revision = 0;
    std::optional<Error> error;
  };

  void enqueue(std::unique_lock<std::mutex>& lock, v1::ClientMessage&& message,
               std::chrono::steady_clock::time_point deadline) {
    const auto is_free = [&] { return controls_.size() < max_waiting_controls || ended_; };
    const bool has_room = changed_.wait_until(lock, deadline, is_free);
    if (ended_ || finishing_) throw ended_error();
    if (!has_room) {
      throw Error(grpc::StatusCode::DEADLINE_EXCEEDED,
                  std::to_string(max_waiting_controls) +
                      " control messages wait, and the server took none in time");
    }
    controls_.push_back(std::move(message));
    changed_.notify_all();
  }

  Error ended_error() const {
    return error_.value_or(Error(grpc::StatusCode::FAILED_PRECONDITION, "the session has ended"));
  }

  void write() {
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto can_send = [&] { return waiting_ && opened_ && queue_.has_credit(); };
      const auto can_finish = [&] { return finishing_ && !waiting_ && controls_.empty(); };
      changed_.wait(lock, [&] {
        return ended_ || !controls_.empty() || can_send() || can_finish();
      });
      if (ended_) return;
      v1::ClientMessage message;
      if (!controls_.empty()) {
        message = std::move(controls_.front());
        controls_.pop_front();
      } else if (waiting_) {
        message = std::move(*waiting_);
        waiting_.reset();
        queue_.sent(message.frame().sequence());
      } else {
        lock.unlock();
        stream_->WritesDone();
        return;
      }
      changed_.notify_all();
      lock.unlock();
      // The thread that reads learns the reason of a failed write.
      if (!stream_->Write(message)) return;
      lock.lock();
    }
  }

  void read() {
    v1::ServerMessage message;
    while (stream_->Read(&message)) {
      if (!handle(message) && options_.on_event) options_.on_event(message);
    }
    const auto status = stream_->Finish();
    const std::lock_guard lock(mutex_);
    ended_ = true;
    if (!status.ok() && !stopping_) error_.emplace(status);
    if (waiting_) {
      queue_.dropped_in_client(waiting_->frame().sequence(), DropReason::disconnected);
      waiting_.reset();
    }
    queue_.disconnect();
    changed_.notify_all();
  }

  /// Handles outcomes and answers. Returns whether the message is one.
  bool handle(v1::ServerMessage& message) {
    const std::lock_guard lock(mutex_);
    bool is_handled = true;
    switch (message.kind_case()) {
      case v1::ServerMessage::kFrame: queue_.returned(std::move(*message.mutable_frame())); break;
      case v1::ServerMessage::kDropped: queue_.dropped(message.dropped()); break;
      case v1::ServerMessage::kAccepted: {
        const auto answer = answers_.find(message.accepted().request_id());
        if (answer == answers_.end()) break;
        answer->second.arrived = true;
        answer->second.revision = message.accepted().revision();
        break;
      }
      case v1::ServerMessage::kError: {
        const auto answer = answers_.find(message.error().request_id());
        is_handled = answer != answers_.end();
        if (!is_handled) break;
        answer->second.arrived = true;
        answer->second.error.emplace(message.error().status());
        break;
      }
      case v1::ServerMessage::kOpened:
        opened_ = message.opened();
        queue_.set_capacity(opened_->frames_in_flight());
        keep_token(opened_->resume_token());
        break;
      case v1::ServerMessage::kApplied:
        keep_token(message.applied().resume_token());
        is_handled = false;
        break;
      case v1::ServerMessage::kState:
        keep_token(message.state().resume_token());
        is_handled = false;
        break;
      default: is_handled = false;
    }
    changed_.notify_all();
    return is_handled;
  }

  void keep_token(const std::string& token) {
    if (!token.empty()) resume_token_ = token;
  }

  /// Cancels the call, and waits for both threads.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    context_->TryCancel();
    reader_.join();
    writer_.join();
  }

  const SessionOptions options_;
  const std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ClientMessage, v1::ServerMessage>> stream_;

  /// Protects everything below.
  mutable std::mutex mutex_;
  /// Signals every change of the state below.
  std::condition_variable changed_;
  OutcomeQueue queue_;
  std::optional<v1::ClientMessage> waiting_;
  std::deque<v1::ClientMessage> controls_;
  std::map<std::uint64_t, Answer> answers_;
  std::optional<v1::Opened> opened_;
  std::optional<Error> error_;
  std::string resume_token_;
  std::uint64_t sequence_ = 0;
  std::uint64_t request_id_ = 0;
  bool finishing_ = false;
  bool stopping_ = false;
  bool ended_ = false;

  std::thread reader_;
  std::thread writer_;
};

}  // namespace sidelight::detail
