// Copyright the Sidelight authors. Licensed under the Apache License, Version 2.0.
//
// Filters a live camera, and changes the pipeline while frames are filtered.
//
//   live_track 127.0.0.1:50051 'sepiaTone(intensity: 0.8)' 30 ['sepiaTone,blur*']
//
// The list limits the filters that the track may use; an empty one permits no filters.
//
// The camera is generated: grey pictures whose luma is 40 + (7 * n) mod 160 in the nth frame. Every
// line of the input is a command: `select TEXT`, `update STAGE PARAMETER NUMBER`,
// `activate STAGE on|off`, `pause`, `resume`, `end`. Every line of the output is an event; `frame`
// lines end with the luma of the picture before and after.
//
// When the connection is lost, the camera goes on without a filter, and the program connects again
// with the newest resume token.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <sidelight/client.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace sidelight;

constexpr std::uint32_t width = 160, height = 90;

/// The state that the threads share.
class Track {
 public:
  Track(const std::string& address, SessionOptions options)
      : client_(address), options_(std::move(options)) {
    options_.on_event = [this](const v1::ServerMessage& message) {
      if (!message.has_applied()) return;
      print("applied " + std::to_string(message.applied().revision()) + " " +
            std::to_string(message.applied().first_sequence()));
    };
    session_ = std::make_shared<Session>(client_.open(options_));
    print("opened " + std::to_string(session_->opened().revision()));
  }

  /// Offers the next picture of the camera.
  void capture() {
    const auto luma = 40 + (7 * ++captured_) % 160;
    std::string pixels(packed_size(v1::PIXEL_FORMAT_I420, width, height), '\x80');
    pixels.replace(0, width * height, width * height, static_cast<char>(luma));
    v1::Frame frame;
    *frame.mutable_image() = make_image(v1::PIXEL_FORMAT_I420, width, height, std::move(pixels));
    frame.set_rtp_timestamp(static_cast<std::uint32_t>(luma));
    const auto session = current();
    if (session->is_open()) {
      session->offer(std::move(frame));
      ++offered_;
    } else {
      // A program with a screen shows the picture without a filter, or a neutral one.
      ++unfiltered_;
    }
  }

  /// Takes outcomes until the track ends, and connects again when the connection is lost.
  void show() {
    for (;;) {
      const auto session = current();
      while (const auto outcome = session->next()) print(*outcome);
      if (is_ended_) break;
      const auto error = session->error();
      print("lost " + std::string(error ? error->what() : "the stream ended"));
      if (!reconnect(*session)) break;
    }
    print("counts offered " + std::to_string(offered_) + " returned " + std::to_string(returned_) +
          " dropped " + std::to_string(dropped_));
  }

  /// Runs a command. Returns whether the track goes on.
  bool run(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    words >> verb >> std::ws;
    const auto session = current();
    try {
      if (verb == "select") {
        std::string text;
        std::getline(words, text);
        print("accepted " + std::to_string(session->select(text)));
        const std::lock_guard lock(mutex_);
        options_.pipeline = text;
      } else if (verb == "update") {
        std::string stage, parameter;
        double number = 0;
        words >> stage >> parameter >> number;
        print("accepted " + std::to_string(session->update(stage, parameter, number)));
      } else if (verb == "activate") {
        std::string stage, state;
        words >> stage >> state;
        print("accepted " + std::to_string(session->activate({{stage, state == "on"}})));
      } else if (verb == "pause") {
        session->pause();
      } else if (verb == "resume") {
        session->resume();
      } else if (verb == "end") {
        return false;
      } else {
        print("unknown command " + verb);
      }
    } catch (const Error& error) {
      print(describe(error));
    }
    return true;
  }

  void end() {
    is_ended_ = true;
    current()->finish();
  }

 private:
  std::shared_ptr<Session> current() const {
    const std::lock_guard lock(mutex_);
    return session_;
  }

  bool reconnect(const Session& lost) {
    auto options = [&] {
      const std::lock_guard lock(mutex_);
      return options_;
    }();
    options.resume_token = lost.resume_token();
    for (auto pause = std::chrono::milliseconds(50); !is_ended_;
         pause = std::min(2 * pause, std::chrono::milliseconds(1'000))) {
      try {
        auto session = std::make_shared<Session>(client_.open(options));
        print("reopened " + std::to_string(session->opened().revision()) + " unfiltered " +
              std::to_string(unfiltered_));
        const std::lock_guard lock(mutex_);
        session_ = std::move(session);
        // `end` may have finished the session before.
        if (is_ended_) session_->finish();
        return true;
      } catch (const Error& error) {
        // A token is invalid on a server with another key; the pipeline is known here.
        if (error.code() == grpc::StatusCode::FAILED_PRECONDITION) options.resume_token.clear();
        if (error.code() == grpc::StatusCode::UNAVAILABLE) {
          client_.wait_until_connected(pause);
        } else {
          std::this_thread::sleep_for(pause);
        }
      }
    }
    return false;
  }

  static std::string describe(const Error& error) {
    std::ostringstream text;
    text << "refused " << error.field();
    if (const auto place = error.position()) text << " column " << place->column;
    if (!error.value().empty()) text << " value " << error.value();
    if (!error.limit().empty()) text << " limit " << error.limit();
    if (!error.suggestion().empty()) text << " suggestion " << error.suggestion();
    // The further lines of the message show the place in the text.
    const std::string message = error.what();
    text << ": " << message.substr(0, message.find('\n'));
    return text.str();
  }

  void print(const Outcome& outcome) {
    const auto returned = [&](const ReturnedFrame& frame, const char* kind) {
      ++returned_;
      const auto& pixels = frame.image.inline_();
      const auto luma = static_cast<unsigned char>(pixels[(height / 2) * width + width / 2]);
      print("frame " + std::to_string(frame.sequence) + " " + kind + " " +
            std::to_string(frame.revision) + " " + std::to_string(frame.rtp_timestamp) + " " +
            std::to_string(luma));
    };
    std::visit(overloaded{[&](const Filtered& frame) { returned(frame, "filtered"); },
                          [&](const Degraded& frame) { returned(frame, "degraded"); },
                          [&](const PassedThrough& frame) { returned(frame, "unchanged"); },
                          [&](const Dropped& run) {
                            dropped_ += run.count;
                            print("dropped " + std::to_string(run.first_sequence) + " " +
                                  std::to_string(run.last_sequence) + " " + name(run.reason));
                          }},
               outcome);
  }

  void print(const std::string& line) {
    const std::lock_guard lock(output_);
    std::cout << line << std::endl;
  }

  Client client_;
  mutable std::mutex mutex_;
  SessionOptions options_;
  std::mutex output_;
  std::atomic<bool> is_ended_{false};
  std::atomic<std::uint64_t> captured_{0}, offered_{0}, unfiltered_{0};
  std::uint64_t returned_ = 0, dropped_ = 0;
  /// The last member: its threads use the others until it is destroyed.
  std::shared_ptr<Session> session_;
};

/// Returns the texts between the commas of a list; none if it is empty.
std::vector<std::string> items(const std::string& list) {
  std::vector<std::string> result;
  std::istringstream rest(list);
  for (std::string item; std::getline(rest, item, ',');) result.push_back(item);
  return result;
}

void run(const std::string& address, SessionOptions options, double fps) {
  options.label = "camera";
  Track track(address, std::move(options));

  std::atomic<bool> is_capturing{true};
  std::thread camera([&] {
    const auto period = std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double>(1 / fps));
    for (auto next = std::chrono::steady_clock::now(); is_capturing; next += period) {
      std::this_thread::sleep_until(next);
      track.capture();
    }
  });
  std::thread screen([&] { track.show(); });
  std::string line;
  while (std::getline(std::cin, line) && track.run(line)) continue;
  is_capturing = false;
  camera.join();
  track.end();
  screen.join();
}

}  // namespace

int main(int count, char** arguments) {
  const double fps = count == 4 || count == 5 ? std::atof(arguments[3]) : 0;
  if (!(fps > 0 && fps <= 1'000)) {
    std::cerr << "usage: live_track ADDRESS PIPELINE FPS [FILTER,...]; FPS is more than 0 and at "
                 "most 1000\n";
    return EXIT_FAILURE;
  }
  try {
    // Reading must not flush the output, which other threads write.
    std::cin.tie(nullptr);
    SessionOptions options;
    options.pipeline = arguments[2];
    if (count == 5) options.allowed_filters = items(arguments[4]);
    run(arguments[1], std::move(options), fps);
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
