// Copyright the Sidelight authors. Licensed under the Apache License, Version 2.0.
//
// Describes a server and a pipeline, and filters one pixel.
//
//   inspect_server 127.0.0.1:50051 'sepiaTone(intensity: 0.8)'
//
// `environment.hpp` describes the variables for tokens and TLS.

#include <cstdlib>
#include <iostream>
#include <sidelight/client.hpp>
#include <string>

#include "environment.hpp"

namespace {

using namespace sidelight;

void run(const std::string& address, const std::string& pipeline) {
  Client client(address, options_of_environment());

  const auto info = client.info();
  std::cout << "version " << info.version() << '\n'
            << "largest frame " << info.limits().max_pixels() << " pixels\n"
            << "filters " << client.filters().filters_size() << '\n';

  const auto checked = client.check(pipeline);
  std::cout << "pipeline " << checked.text() << '\n';
  for (const auto& pass : checked.passes()) std::cout << "pass " << pass.description() << '\n';

  const auto pixel = make_image(v1::PIXEL_FORMAT_RGB24, 1, 1, "\x20\x60\xa0");
  const auto filtered = client.apply(pixel, pipeline);
  std::cout << "pixel 32 96 160 ->";
  for (const unsigned char sample : filtered.image().inline_()) {
    std::cout << ' ' << static_cast<unsigned>(sample);
  }
  std::cout << '\n';
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: inspect_server ADDRESS PIPELINE\n";
    return EXIT_FAILURE;
  }
  try {
    run(arguments[1], arguments[2]);
    return EXIT_SUCCESS;
  } catch (const Error& error) {
    std::cerr << "error " << error.code() << ": " << error.what() << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
  }
  return EXIT_FAILURE;
}
