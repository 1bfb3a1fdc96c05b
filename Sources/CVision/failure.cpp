#ifdef SIDELIGHT_VISION

#include "failure.hpp"

#include <cstring>
#include <mutex>

#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>

#include "CVision.h"

namespace {

// A fixed array, to store the message of a failed allocation without allocating.
thread_local char last_error[512] = "";

int ignore_error(int, const char *, const char *, const char *, int, void *) { return 0; }

}  // namespace

namespace cvision {

void set_last_error(const char *message) noexcept {
  std::strncpy(last_error, message, sizeof last_error - 1);
  last_error[sizeof last_error - 1] = 0;
}

void initialize_opencv() {
  static std::once_flag once;
  std::call_once(once, [] {
    // The server divides the processors among its own threads.
    cv::setNumThreads(1);
    // Errors arrive as exceptions; by default OpenCV prints them too.
    cv::redirectError(ignore_error);
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  });
}

}  // namespace cvision

const char *cvision_last_error(void) { return last_error; }

#endif
