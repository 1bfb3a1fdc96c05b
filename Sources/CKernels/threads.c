#define _GNU_SOURCE
#include "CKernels.h"

#include <pthread.h>
#include <unistd.h>
#if defined(__linux__)
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#endif

int sl_processor_count(void) {
#if defined(__linux__)
  // Grows until the kernel's mask fits: a machine may have more processors than cpu_set_t has bits.
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 4) {
    cpu_set_t *set = CPU_ALLOC(capacity);
    if (set == NULL) break;
    const size_t size = CPU_ALLOC_SIZE(capacity);
    const int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
  }
#endif
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int)online : 1;
}

void sl_set_thread_niceness(int niceness) {
#if defined(__linux__)
  // Linux keeps a niceness per thread. Without privileges it can only be raised.
  const id_t thread = (id_t)syscall(SYS_gettid);
  if (getpriority(PRIO_PROCESS, thread) < niceness) setpriority(PRIO_PROCESS, thread, niceness);
#else
  (void)niceness;
#endif
}

void sl_name_thread(const char *name) {
#if defined(__APPLE__)
  pthread_setname_np(name);
#else
  pthread_setname_np(pthread_self(), name);
#endif
}
