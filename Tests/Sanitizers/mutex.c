// Reports the slow path of Synchronization.Mutex to ThreadSanitizer; preloaded by `dev/test tsan`.
// The fast path is compiled into our code, where the sanitizer sees it. The slow path is in a
// library that is not instrumented: without this report a thread that waited for a lock would not
// seem to hold it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

// Declared like the library's functions: methods of a struct, which is in the register for self.
__attribute__((swiftcall)) void lock_slow(
    uint32_t thread, __attribute__((swift_context)) void *handle)
    __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
__attribute__((swiftcall)) void unlock_slow(__attribute__((swift_context)) void *handle)
    __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

typedef __attribute__((swiftcall)) void (*lock_function)(
    uint32_t, __attribute__((swift_context)) void *);
typedef __attribute__((swiftcall)) void (*unlock_function)(
    __attribute__((swift_context)) void *);

__attribute__((swiftcall)) void lock_slow(
    uint32_t thread, __attribute__((swift_context)) void *handle) {
  static lock_function next;
  if (!next) {
    next = (lock_function)dlsym(
        RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
  }
  next(thread, handle);
  if (__tsan_acquire) __tsan_acquire(handle);
}

__attribute__((swiftcall)) void unlock_slow(
    __attribute__((swift_context)) void *handle) {
  static unlock_function next;
  if (!next) {
    next = (unlock_function)dlsym(
        RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
  }
  if (__tsan_release) __tsan_release(handle);
  next(handle);
}
