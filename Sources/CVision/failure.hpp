// Conversion of C++ exceptions to results of C functions.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace cvision {

/// Stores the message of this thread's last failure. Never throws.
void set_last_error(const char *message) noexcept;

/// Initializes OpenCV on the first call: no other threads, and no output on stderr.
void initialize_opencv();

/// Returns the result of `body`, or `failure` if it throws.
template <typename Result, typename Body>
Result guarded(Result failure, Body body) noexcept {
  try {
    return body();
  } catch (const std::exception &error) {
    set_last_error(error.what());
  } catch (...) {
    set_last_error("an exception without a message");
  }
  return failure;
}

/// Throws unless the condition holds.
inline void require(bool condition, const char *message) {
  if (!condition) throw std::invalid_argument(message);
}

}  // namespace cvision
