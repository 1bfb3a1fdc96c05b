// Copyright the Sidelight authors. Licensed under the Apache License, Version 2.0.
//
// Filters a video through a Sidelight server, and drops no frame.
//
//   ffmpeg -i in.mp4 -pix_fmt yuv420p -f yuv4mpegpipe - |
//     filter_video 127.0.0.1:50051 'sepiaTone(intensity: 0.8), vignette(intensity: 1)' |
//     ffmpeg -i - out.mp4
//
// `environment.hpp` describes the variables for tokens and TLS.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <sidelight/client.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "environment.hpp"

namespace {

/// The size in the header of a Y4M video.
struct VideoSize {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

VideoSize parse_header(const std::string& header) {
  std::istringstream fields(header);
  std::string field, format = "420";
  VideoSize size;
  fields >> field;
  const bool is_y4m = field == "YUV4MPEG2";
  while (fields >> field) {
    if (field[0] == 'W') size.width = static_cast<std::uint32_t>(std::stoul(field.substr(1)));
    if (field[0] == 'H') size.height = static_cast<std::uint32_t>(std::stoul(field.substr(1)));
    if (field[0] == 'C') format = field.substr(1);
  }
  // `420p10` and the like have more than 8 bits.
  const bool is_8_bit_420 = format == "420" || format == "420jpeg" || format == "420mpeg2" ||
                            format == "420paldv";
  if (!is_y4m || size.width == 0 || size.height == 0 || !is_8_bit_420) {
    throw std::invalid_argument(
        "the input is not a Y4M video in 4:2:0 with 8 bits; use -pix_fmt yuv420p with ffmpeg");
  }
  return size;
}

/// Offers every frame of a video, then ends the session.
void send(std::istream& video, VideoSize size, sidelight::Session& session) {
  using namespace sidelight;
  std::string marker, pixels(packed_size(v1::PIXEL_FORMAT_I420, size.width, size.height), '\0');
  while (session.is_open() && std::getline(video, marker) &&
         video.read(pixels.data(), static_cast<std::streamsize>(pixels.size()))) {
    session.offer(make_image(v1::PIXEL_FORMAT_I420, size.width, size.height, pixels));
  }
  session.finish();
}

void write(const sidelight::ReturnedFrame& frame) {
  std::cout << "FRAME\n" << frame.image.inline_();
}

void run(const std::string& address, const std::string& pipeline) {
  using namespace sidelight;
  std::string header;
  std::getline(std::cin, header);
  const auto size = parse_header(header);

  Client client(address, options_of_environment());
  SessionOptions options;
  options.pipeline = pipeline;
  options.drop_policy = DropPolicy::never_drop;
  auto session = client.open(options);
  std::cout << header << '\n';

  std::thread sender([&] { send(std::cin, size, session); });
  std::uint64_t filtered = 0, unchanged = 0, dropped = 0;
  while (const auto outcome = session.next()) {
    std::visit(overloaded{[&](const Filtered& frame) { ++filtered, write(frame); },
                          [&](const Degraded& frame) { ++filtered, write(frame); },
                          [&](const PassedThrough& frame) { ++unchanged, write(frame); },
                          [&](const Dropped& run) {
                            dropped += run.count;
                            std::cerr << "frame " << run.first_sequence << " was dropped: "
                                      << name(run.reason) << '\n';
                          }},
               *outcome);
  }
  sender.join();
  std::cerr << filtered << " frames filtered, " << unchanged << " unchanged, " << dropped
            << " dropped\n";
  if (const auto error = session.error()) throw *error;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: filter_video ADDRESS PIPELINE <in.y4m >out.y4m\n";
    return EXIT_FAILURE;
  }
  try {
    std::ios::sync_with_stdio(false);
    // Reading must not flush the output, which another thread writes.
    std::cin.tie(nullptr);
    run(arguments[1], arguments[2]);
    std::cout.flush();
    return std::cout.good() ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
