// The contract in C++ with gRPC's callback API, server and client, as in its documentation; pixels
// are moved between request and response, not copied. `grpc server|client --option value ...`
#include "peer.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sidelight/v1/frame_filter.grpc.pb.h"

using namespace sidelight::v1;

namespace {

constexpr int streamWindow = 4 << 20;
constexpr int http2Frame = 256 << 10;

// Sends every message back, in order.
class Echo final : public grpc::ServerBidiReactor<ClientMessage, ServerMessage> {
 public:
  Echo() { StartRead(&request_); }

  void OnReadDone(bool ok) override {
    if (!ok) {
      std::unique_lock lock(mutex_);
      over_ = true;
      if (answers_.empty()) Finish(grpc::Status::OK);
      return;
    }
    auto answer = std::make_unique<ServerMessage>();
    if (request_.has_open()) {
      answer->mutable_opened()->set_frames_in_flight(64);
    } else if (request_.has_frame()) {
      auto *frame = answer->mutable_frame();
      frame->set_sequence(request_.frame().sequence());
      frame->set_disposition(DISPOSITION_PASSED_THROUGH);
      frame->mutable_image()->Swap(request_.mutable_frame()->mutable_image());
    } else {
      return StartRead(&request_);
    }
    {
      std::unique_lock lock(mutex_);
      answers_.push_back(std::move(answer));
      if (answers_.size() == 1) StartWrite(answers_.front().get());
    }
    StartRead(&request_);
  }

  void OnWriteDone(bool ok) override {
    std::unique_lock lock(mutex_);
    answers_.pop_front();
    if (!ok) answers_.clear();
    if (!answers_.empty()) StartWrite(answers_.front().get());
    else if (over_) Finish(grpc::Status::OK);
  }

  void OnDone() override { delete this; }

 private:
  ClientMessage request_;
  std::mutex mutex_;
  std::deque<std::unique_ptr<ServerMessage>> answers_;
  bool over_ = false;
};

class Service final : public FrameFilter::CallbackService {
  grpc::ServerBidiReactor<ClientMessage, ServerMessage> *Process(
      grpc::CallbackServerContext *) override {
    return new Echo();
  }
};

void serve(const std::string &address, bool tuned) {
  Service service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.SetMaxReceiveMessageSize(-1);
  builder.SetMaxSendMessageSize(-1);
  if (tuned) {
    builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, streamWindow);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, http2Frame);
  }
  builder.RegisterService(&service);
  auto server = builder.BuildAndStart();
  if (!server) exit(2);
  if (address.rfind("unix:", 0) == 0) printf("listening on %s\n", address.c_str());
  else printf("listening on 127.0.0.1:%d\n", port);
  fflush(stdout);
  server->Wait();
}

std::atomic<bool> over{false};
std::atomic<int> ready{0};

// Sends the same frame again for every frame that returns.
class Stream final : public grpc::ClientBidiReactor<ClientMessage, ServerMessage> {
 public:
  Stream(FrameFilter::Stub *stub, const Image &image, int inFlight) : inFlight_(inFlight) {
    open_.mutable_open()->set_drop_policy(DROP_POLICY_NEVER_DROP);
    open_.mutable_open()->set_mailbox_depth(static_cast<uint32_t>(inFlight));
    *message_.mutable_frame()->mutable_image() = image;
    stub->async()->Process(&context_, this);
    writing_ = true;
    StartWrite(&open_);
    StartRead(&answer_);
    StartCall();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    std::unique_lock lock(mutex_);
    if (answer_.has_opened()) {
      due_ = inFlight_;
      ready += 1;
    } else if (answer_.has_frame()) {
      double time = now();
      arrivals_.emplace_back(time, time - sent_.front());
      sent_.pop_front();
      if (arrivals_.size() == 1 &&
          answer_.frame().image().inline_() != message_.frame().image().inline_()) {
        fputs("A frame came back with other pixels than it was sent with.\n", stderr);
        exit(2);
      }
      due_ += 1;
    }
    goOn();
    lock.unlock();
    StartRead(&answer_);
  }

  void OnWriteDone(bool ok) override {
    std::unique_lock lock(mutex_);
    writing_ = false;
    if (ok) goOn();
  }

  void OnDone(const grpc::Status &status) override {
    if (!status.ok()) fprintf(stderr, "grpc: %s\n", status.error_message().c_str());
    std::unique_lock lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }

  // Waits until all frames returned.
  void wait() {
    std::unique_lock lock(mutex_);
    goOn();
    if (!changed_.wait_for(lock, std::chrono::seconds(20), [this] { return done_; })) exit(2);
  }

  // The round trips of the frames that returned in a window of time, in seconds.
  std::vector<double> roundTrips(double begin, double end) {
    std::unique_lock lock(mutex_);
    std::vector<double> result;
    for (auto [time, roundTrip] : arrivals_)
      if (time >= begin && time < end) result.push_back(roundTrip);
    return result;
  }

 private:
  void goOn() {
    if (writing_ || closed_) return;
    if (over) {
      closed_ = true;
      StartWritesDone();
    } else if (due_ > 0) {
      due_ -= 1;
      writing_ = true;
      message_.mutable_frame()->set_sequence(++sequence_);
      sent_.push_back(now());
      StartWrite(&message_);
    }
  }

  const int inFlight_;
  grpc::ClientContext context_;
  ClientMessage open_, message_;
  ServerMessage answer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<double> sent_;
  std::vector<std::pair<double, double>> arrivals_;
  uint64_t sequence_ = 0;
  int due_ = 0;
  bool writing_ = false, closed_ = false, done_ = false;
};

int drive(int count, char **arguments) {
  const char *format = option(count, arguments, "--format", "i420");
  unsigned width = 0, height = 0;
  sscanf(option(count, arguments, "--size", "1280x720"), "%ux%u", &width, &height);
  auto bytes = static_cast<size_t>(number(count, arguments, "--bytes", 1382400));
  int streams = static_cast<int>(number(count, arguments, "--streams", 1));
  int connections = static_cast<int>(number(count, arguments, "--connections", streams));
  int inFlight = static_cast<int>(number(count, arguments, "--in-flight", 1));
  bool tuned = number(count, arguments, "--tuned", 0) != 0;

  std::string name = "PIXEL_FORMAT_";
  for (const char *c = format; *c; ++c) name += static_cast<char>(toupper(*c));
  PixelFormat pixelFormat;
  if (!PixelFormat_Parse(name, &pixelFormat)) return 2;
  Image image;
  image.set_format(pixelFormat);
  image.set_width(width);
  image.set_height(height);
  std::string pixels(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) pixels[i] = static_cast<char>(i * 2654435761u >> 24);
  image.set_inline_(std::move(pixels));

  std::vector<std::unique_ptr<FrameFilter::Stub>> stubs;
  for (int i = 0; i < connections; ++i) {
    grpc::ChannelArguments channel;
    channel.SetMaxReceiveMessageSize(-1);
    channel.SetMaxSendMessageSize(-1);
    // Without this option channels to one address share a connection.
    channel.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    if (tuned) {
      channel.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, streamWindow);
      channel.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, http2Frame);
    }
    stubs.push_back(FrameFilter::NewStub(
        grpc::CreateCustomChannel(option(count, arguments, "--address", ""),
                                  grpc::InsecureChannelCredentials(), channel)));
  }
  std::vector<std::unique_ptr<Stream>> all;
  for (int i = 0; i < streams; ++i)
    all.push_back(std::make_unique<Stream>(stubs[static_cast<size_t>(i % connections)].get(), image,
                                           inFlight));
  for (int i = 0; ready < streams; ++i) {
    if (i > 20000) return fputs("grpc: a stream has not opened\n", stderr), 2;
    sleep_for(.001);
  }
  sleep_for(number(count, arguments, "--warm-up", .5));
  say("begin");
  double begin = now();
  sleep_for(number(count, arguments, "--seconds", 2));
  double end = now();
  say("end");
  over = true;
  std::vector<double> times;
  size_t least = SIZE_MAX, most = 0;
  for (auto &stream : all) {
    stream->wait();
    auto some = stream->roundTrips(begin, end);
    times.insert(times.end(), some.begin(), some.end());
    least = std::min(least, some.size());
    most = std::max(most, some.size());
  }
  finish(times.data(), times.size(), end - begin, least, most);
  return 0;
}

}  // namespace

int main(int count, char **arguments) {
  std::string verb = count > 1 ? arguments[1] : "";
  if (verb == "client") return drive(count, arguments);
  if (verb == "version") return printf("C++ gRPC %s\n", grpc::Version().c_str()), 0;
  if (verb != "server")
    return fputs("usage: grpc server|client|version --option value ...\n", stderr), 2;
  serve(option(count, arguments, "--address", "127.0.0.1:0"),
        number(count, arguments, "--tuned", 0) != 0);
  return 0;
}
