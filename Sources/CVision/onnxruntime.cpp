#ifdef SIDELIGHT_VISION

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "CVision.h"
#include "failure.hpp"

using cvision::guarded;
using cvision::require;

// The part of ONNX Runtime's C API that is used here. Its table of functions only grows at the end,
// so a function keeps its position in all versions. These functions are in the API's first version.

namespace {

/// The result of OrtGetApiBase().
struct ApiBase {
  const void *const *(*api)(uint32_t version);
  const char *(*version)();
};

enum Function {
  get_error_message = 2,
  create_environment = 3,
  disable_telemetry = 6,
  create_session_from_array = 8,
  run = 9,
  create_session_options = 10,
  set_session_log_severity = 22,
  set_intra_op_threads = 24,
  set_inter_op_threads = 25,
  create_tensor_with_data = 49,
  get_tensor_data = 51,
  get_element_type = 60,
  get_dimension_count = 61,
  get_dimensions = 62,
  get_tensor_info = 65,
  create_cpu_memory_info = 69,
  release_status = 93,
  release_session = 95,
  release_value = 96,
  release_tensor_info = 99,
  release_session_options = 100,
};

constexpr int log_fatal = 4, element_float = 1, arena_allocator = 1, default_memory = 0;

}  // namespace

struct cvision_runtime {
  const void *const *api;
  void *environment = nullptr;
  void *memory = nullptr;

  template <typename Result, typename... Arguments>
  Result call(Function function, Arguments... arguments) const {
    return reinterpret_cast<Result (*)(Arguments...)>(
        const_cast<void *>(api[function]))(arguments...);
  }

  /// Calls a function that returns a status, and throws the status's message.
  template <typename... Arguments>
  void check(Function function, Arguments... arguments) const {
    void *status = call<void *>(function, arguments...);
    if (!status) return;
    const std::string message = call<const char *>(get_error_message, (const void *)status);
    call<void>(release_status, status);
    throw std::runtime_error(message);
  }
};

namespace {

/// An object of ONNX Runtime that is released at the end of a scope.
struct Owned {
  const cvision_runtime *runtime;
  Function release;
  void *object = nullptr;

  Owned(const cvision_runtime *runtime, Function release) : runtime(runtime), release(release) {}
  Owned(Owned &&other) noexcept
      : runtime(other.runtime), release(other.release), object(other.object) {
    other.object = nullptr;
  }
  Owned(const Owned &) = delete;
  Owned &operator=(const Owned &) = delete;
  ~Owned() {
    if (object) runtime->call<void>(release, object);
  }
};

}  // namespace

struct cvision_session {
  cvision_runtime *runtime;
  Owned session;
  std::vector<Owned> outputs;

  explicit cvision_session(cvision_runtime *runtime)
      : runtime(runtime), session(runtime, release_session) {}
};

cvision_runtime *cvision_runtime_open(const char *path) {
  return guarded<cvision_runtime *>(nullptr, [&] {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) throw std::runtime_error(dlerror());
    auto *base = reinterpret_cast<const ApiBase *(*)()>(dlsym(library, "OrtGetApiBase"));
    require(base, "the library has no function OrtGetApiBase: it is not ONNX Runtime");
    auto runtime = std::make_unique<cvision_runtime>();
    runtime->api = base()->api(1);
    require(runtime->api, "this version of ONNX Runtime lacks the first version of its API");
    runtime->check(create_environment, log_fatal, "sidelight", &runtime->environment);
    runtime->check(disable_telemetry, (const void *)runtime->environment);
    runtime->check(create_cpu_memory_info, arena_allocator, default_memory, &runtime->memory);
    return runtime.release();
  });
}

cvision_session *cvision_session_open(
    cvision_runtime *runtime, const uint8_t *bytes, size_t count) {
  return guarded<cvision_session *>(nullptr, [&] {
    Owned options(runtime, release_session_options);
    runtime->check(create_session_options, &options.object);
    runtime->check(set_session_log_severity, options.object, log_fatal);
    // The server divides the processors among its own threads.
    runtime->check(set_intra_op_threads, options.object, 1);
    runtime->check(set_inter_op_threads, options.object, 1);
    auto session = std::make_unique<cvision_session>(runtime);
    runtime->check(
        create_session_from_array, (const void *)runtime->environment, (const void *)bytes, count,
        (const void *)options.object, &session->session.object);
    return session.release();
  });
}

void cvision_session_close(cvision_session *session) { delete session; }

int cvision_session_run(
    cvision_session *session, const cvision_tensor *inputs, int input_count,
    const char *const *outputs, int output_count) {
  return guarded(-1, [&] {
    const cvision_runtime *runtime = session->runtime;
    std::vector<Owned> owned;
    std::vector<const char *> names;
    std::vector<const void *> values;
    for (int i = 0; i < input_count; i++) {
      const cvision_tensor &input = inputs[i];
      size_t size = sizeof(float);
      for (int k = 0; k < input.rank; k++) size *= static_cast<size_t>(input.dimensions[k]);
      owned.emplace_back(runtime, release_value);
      runtime->check(
          create_tensor_with_data, (const void *)runtime->memory, (void *)input.values, size,
          (const int64_t *)input.dimensions, (size_t)input.rank, element_float,
          &owned.back().object);
      names.push_back(input.name);
      values.push_back(owned.back().object);
    }
    std::vector<void *> results(static_cast<size_t>(output_count), nullptr);
    session->outputs.clear();
    runtime->check(
        run, session->session.object, (const void *)nullptr, names.data(), values.data(),
        values.size(), outputs, results.size(), results.data());
    session->outputs.reserve(results.size());
    for (void *result : results) {
      session->outputs.emplace_back(runtime, release_value);
      session->outputs.back().object = result;
    }
    return 0;
  });
}

int cvision_session_output(const cvision_session *session, int index, cvision_tensor *output) {
  return guarded(-1, [&] {
    const cvision_runtime *runtime = session->runtime;
    void *value = session->outputs.at(static_cast<size_t>(index)).object;
    Owned info(runtime, release_tensor_info);
    runtime->check(get_tensor_info, (const void *)value, &info.object);
    int type = 0;
    runtime->check(get_element_type, (const void *)info.object, &type);
    require(type == element_float, "an output is not of 32-bit floats");
    size_t rank = 0;
    runtime->check(get_dimension_count, (const void *)info.object, &rank);
    require(rank <= cvision_max_rank, "an output has too many dimensions");
    runtime->check(get_dimensions, (const void *)info.object, output->dimensions, rank);
    void *values = nullptr;
    runtime->check(get_tensor_data, value, &values);
    output->name = nullptr;
    output->values = static_cast<const float *>(values);
    output->rank = static_cast<int>(rank);
    return 0;
  });
}

#endif
