// Pixel rows in C, with a table of functions per instruction set, and functions for threads that
// Swift does not have.
#pragma once

// Mathematics and threads, for the Swift files that import this module.
#include <math.h>
#include <pthread.h>

#include "CKernelsRows.h"

#pragma clang assume_nonnull begin

/// Returns the calling thread's table, set by sl_rows_use(), or else the process's table. The
/// process's table is chosen once: by the environment variable SIDELIGHT_ISA (portable, avx2,
/// avx512), or else the fastest that this machine can run.
const sl_rows *sl_rows_current(void);

/// Sets the calling thread's table; NULL restores the process's. Tests use it to compare
/// instruction sets within one process.
void sl_rows_use(const sl_rows *_Nullable rows);

/// Returns the table of that name; NULL if it is not compiled in or this machine cannot run it.
const sl_rows *_Nullable sl_rows_named(const char *name);

/// Tells the processor that the thread is spinning.
static inline void sl_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Returns the number of processors on which the calling thread may run, at least 1: on Linux the
/// processors in its affinity mask (`taskset`, a cgroup's cpuset), elsewhere the processors online.
int sl_processor_count(void);

/// Raises the calling thread's niceness to at least `niceness`, 0 ... 19. Only on Linux.
void sl_set_thread_niceness(int niceness);

/// Names the calling thread for debuggers and `top`; the first 15 characters count.
void sl_name_thread(const char *name);

#pragma clang assume_nonnull end
