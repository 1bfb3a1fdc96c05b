// Copyright the Sidelight authors. Licensed under the Apache License, Version 2.0.
//
// A filter process with one filter, by the contract alone:
//
//   sidelight serve --filter-process .build/cpp/filter_process

#include <fcntl.h>
#include <grpcpp/grpcpp.h>
#include <sidelight/v1/filter_process.grpc.pb.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

namespace {

using namespace sidelight::v1;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) {
    throw std::runtime_error("start it with: sidelight serve --filter-process filter_process");
  }
  return value;
}

std::uint8_t* mapped(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) throw std::runtime_error("the memory cannot be opened");
  void* memory =
      mmap(nullptr, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("the memory cannot be mapped");
  return static_cast<std::uint8_t*>(memory);
}

ProcessMessage hello(const std::string& token) {
  ProcessMessage message;
  auto& hello = *message.mutable_hello();
  hello.add_versions(1);
  hello.set_token(token);
  hello.set_library("the C++ example");
  auto& offer = *hello.add_filters();
  offer.set_format(PIXEL_FORMAT_GRAY8);
  offer.mutable_filter()->set_name("cppThreshold");
  offer.mutable_filter()->set_summary("Black and white, without grey.");
  auto& level = *offer.mutable_filter()->add_parameters();
  level.set_name("level");
  level.set_kind(PARAMETER_KIND_NUMBER);
  level.set_summary("Light parts are brighter.");
  level.mutable_default_value()->set_number(0.5);
  level.mutable_limits()->set_maximum(1);
  *level.mutable_slider() = level.limits();
  return message;
}

void threshold(std::uint8_t* memory, const HostMessage::Picture& picture, double level) {
  const auto& plane = picture.planes(0);
  for (std::uint32_t y = 0; y < picture.height(); ++y) {
    std::uint8_t* row = memory + plane.offset() + std::uint64_t{y} * plane.stride();
    for (std::uint32_t x = 0; x < picture.width(); ++x) row[x] = row[x] > 255 * level ? 255 : 0;
  }
}

void run() {
  const auto socket = environment("SIDELIGHT_FILTER_SOCKET");
  const auto memory = mapped(std::stoi(environment("SIDELIGHT_FILTER_MEMORY")));
  const auto host =
      FilterHost::NewStub(grpc::CreateChannel("unix:" + socket, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  const auto call = host->Attach(&context);
  call->Write(hello(environment("SIDELIGHT_FILTER_TOKEN")));

  std::map<std::uint64_t, double> levels;
  for (HostMessage message; call->Read(&message);) {
    ProcessMessage answer;
    if (message.has_open_session()) {
      const auto& session = message.open_session();
      levels[session.session()] = session.parameters().at("level").number();
      answer.mutable_opened()->set_session(session.session());
    } else if (message.has_frame()) {
      const auto& frame = message.frame();
      double& level = levels.at(frame.session());
      if (frame.has_parameters()) level = frame.parameters().values().at("level").number();
      threshold(memory, frame.input(), level);
      answer.mutable_result()->set_frame(frame.frame());
    } else {
      if (message.has_close_session()) levels.erase(message.close_session().session());
      continue;
    }
    call->Write(answer);
  }
  const auto status = call->Finish();
  if (status.error_code() == grpc::StatusCode::INVALID_ARGUMENT) {
    throw std::runtime_error(status.error_message());
  }
}

}  // namespace

int main() {
  try {
    run();
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
