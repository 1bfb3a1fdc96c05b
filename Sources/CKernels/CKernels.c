#define _GNU_SOURCE
#include "CKernels.h"

#include <pthread.h>
#if defined(__linux__)
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const sl_rows sl_rows_portable;
#if defined(__x86_64__)
extern const sl_rows sl_rows_avx2;
extern const sl_rows sl_rows_avx512;
#endif

const sl_rows *sl_rows_named(const char *name) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (strcmp(name, "avx512") == 0) {
    int able = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    return able ? &sl_rows_avx512 : NULL;
  }
  if (strcmp(name, "avx2") == 0) {
    int able = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return able ? &sl_rows_avx2 : NULL;
  }
#endif
  return strcmp(name, "portable") == 0 ? &sl_rows_portable : NULL;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const sl_rows *current;
static _Thread_local const sl_rows *own;

static void choose(void) {
  const char *forced = getenv("SIDELIGHT_ISA");
  const sl_rows *rows = forced != NULL ? sl_rows_named(forced) : NULL;
  if (forced != NULL && rows == NULL) {
    fprintf(stderr, "SIDELIGHT_ISA=%s: unknown, or not of this machine; its best is used\n", forced);
  }
  if (rows == NULL) rows = sl_rows_named("avx512");
  if (rows == NULL) rows = sl_rows_named("avx2");
  current = rows != NULL ? rows : &sl_rows_portable;
}

void sl_rows_use(const sl_rows *rows) { own = rows; }

const sl_rows *sl_rows_current(void) {
  if (own != NULL) return own;
  pthread_once(&once, choose);
  return current;
}

void sl_set_thread_niceness(int niceness) {
#if defined(__linux__)
  // On Linux a thread has a niceness of its own. It may not be lowered, only raised.
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
