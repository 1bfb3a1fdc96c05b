// Copyright the Sidelight authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <sidelight/v1/frame_filter.grpc.pb.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "error.hpp"
#include "image.hpp"
#include "options.hpp"
#include "outcome.hpp"
#include "session.hpp"

/// A client of a Sidelight server: sessions with a thread for each direction.
namespace sidelight {

/// The options of a connection.
struct ClientOptions {
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  /// The token for `authorization: Bearer`; empty if the server requires none. Without TLS
  /// `credentials` anyone on the network path can read it: use it only on this host.
  std::string bearer_token;
  /// The time limit of calls without a session.
  std::chrono::milliseconds call_timeout{10'000};
};

/// A connection to a server, which sessions share. All methods may be called from any thread, and
/// throw `Error`.
class Client {
 public:
  /// Connects on first use.
  ///
  /// - Parameter address: `127.0.0.1:50051`, or `unix:/run/sidelight.sock`.
  explicit Client(const std::string& address, ClientOptions options = {})
      : options_(std::move(options)) {
    grpc::ChannelArguments arguments;
    // gRPC's limit of 4 MiB is less than a 1080p frame in BGRA.
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetMaxSendMessageSize(-1);
    // Video cannot wait for gRPC's pause of up to two minutes before it connects again.
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1'000);
    // The time limit of an attempt.
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5'000);
    // Sessions of one connection share its flow control, so each client has its own connection.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    channel_ = grpc::CreateCustomChannel(address, options_.credentials, arguments);
    stub_ = v1::FrameFilter::NewStub(channel_);
  }

  /// Waits up to a time for a connection to the server. Returns whether there is one.
  ///
  /// Use it between attempts to open a session. gRPC reads from a new connection only while a call
  /// waits, or every five seconds, and calls to an unreachable server do not wait.
  bool wait_until_connected(std::chrono::milliseconds time) {
    return channel_->WaitForConnected(std::chrono::system_clock::now() + time);
  }

  /// Opens a session, and waits until the server confirms it.
  Session open(SessionOptions options) {
    v1::ClientMessage message;
    auto& open = *message.mutable_open();
    if (options.resume_token.empty()) open.set_pipeline_text(options.pipeline);
    open.set_label(options.label);
    open.set_participant(options.participant);
    if (options.allowed_filters) {
      for (const auto& filter : *options.allowed_filters) open.add_allowed_filters(filter);
      // On the wire an empty list permits all; no filter has this name.
      if (options.allowed_filters->empty()) open.add_allowed_filters("-");
    }
    open.set_drop_policy(options.drop_policy == DropPolicy::never_drop
                             ? v1::DROP_POLICY_NEVER_DROP
                             : v1::DROP_POLICY_NEWEST_WINS);
    open.set_budget_us(static_cast<std::uint32_t>(options.budget.count()));
    open.set_failure_policy(options.failure_policy);
    open.set_allow_degraded(options.allow_degraded);
    open.set_resume_token(options.resume_token);
    return Session(std::make_unique<detail::SessionCore>(*stub_, context(), std::move(options),
                                                         std::move(message)));
  }

  /// Filters one still image.
  ///
  /// - Parameter pipeline: The pipeline as text.
  v1::ApplyResponse apply(v1::Image image, const std::string& pipeline) {
    v1::ApplyRequest request;
    *request.mutable_image() = std::move(image);
    request.set_pipeline_text(pipeline);
    return call(&v1::FrameFilter::Stub::Apply, request, v1::ApplyResponse());
  }

  /// Validates the text of a pipeline, and returns its canonical form and its passes.
  v1::CheckPipelineResponse check(const std::string& pipeline) {
    v1::CheckPipelineRequest request;
    request.set_text(pipeline);
    return call(&v1::FrameFilter::Stub::CheckPipeline, request, v1::CheckPipelineResponse());
  }

  /// Returns the filters that the caller may use, with their parameters.
  v1::ListFiltersResponse filters() {
    return call(&v1::FrameFilter::Stub::ListFilters, v1::ListFiltersRequest(),
                v1::ListFiltersResponse());
  }

  /// Returns the version, the limits and the load of the server.
  v1::GetServerInfoResponse info() {
    return call(&v1::FrameFilter::Stub::GetServerInfo, v1::GetServerInfoRequest(),
                v1::GetServerInfoResponse());
  }

 private:
  template <class Request, class Response>
  Response call(grpc::Status (v1::FrameFilter::Stub::*method)(grpc::ClientContext*, const Request&,
                                                             Response*),
                const Request& request, Response response) {
    const auto call_context = context();
    call_context->set_deadline(std::chrono::system_clock::now() + options_.call_timeout);
    const auto status = (stub_.get()->*method)(call_context.get(), request, &response);
    if (!status.ok()) throw Error(status);
    return response;
  }

  std::unique_ptr<grpc::ClientContext> context() const {
    auto result = std::make_unique<grpc::ClientContext>();
    if (!options_.bearer_token.empty()) {
      result->AddMetadata("authorization", "Bearer " + options_.bearer_token);
    }
    return result;
  }

  ClientOptions options_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::FrameFilter::Stub> stub_;
};

}  // namespace sidelight
