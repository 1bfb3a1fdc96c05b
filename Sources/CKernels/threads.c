#define _GNU_SOURCE
#include "CKernels.h"

#include <pthread.h>
#if defined(__linux__)
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

void sl_set_thread_niceness(int niceness) {
#if defined(__linux__)
  // Linux keeps a niceness for each thread. Without privileges it can only be raised.
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
