// The choice of a table of rows: by the thread, by SIDELIGHT_ISA, or the best that the machine can
// run.
#include "CKernels.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const sl_rows sl_rows_portable;
#if defined(__x86_64__)
extern const sl_rows sl_rows_avx2, sl_rows_avx512;
#endif

// Fastest first. The last one runs everywhere.
static const sl_rows *const tables[] = {
#if defined(__x86_64__)
    &sl_rows_avx512,
    &sl_rows_avx2,
#endif
    &sl_rows_portable,
};

enum { table_count = sizeof tables / sizeof tables[0] };

static int can_run(const sl_rows *rows) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (rows == &sl_rows_avx512) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  }
  if (rows == &sl_rows_avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return rows == &sl_rows_portable;
}

const sl_rows *sl_rows_named(const char *name) {
  for (int i = 0; i < table_count; i++) {
    if (strcmp(tables[i]->name, name) == 0) return can_run(tables[i]) ? tables[i] : NULL;
  }
  return NULL;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const sl_rows *process_rows;
static _Thread_local const sl_rows *thread_rows;

static void choose_process_rows(void) {
  const char *forced = getenv("SIDELIGHT_ISA");
  if (forced != NULL) {
    process_rows = sl_rows_named(forced);
    if (process_rows != NULL) return;
    fprintf(
        stderr, "SIDELIGHT_ISA=%s: unknown, or not of this machine; its best is used\n", forced);
  }
  for (int i = 0; process_rows == NULL; i++) {
    if (can_run(tables[i])) process_rows = tables[i];
  }
}

void sl_rows_use(const sl_rows *rows) { thread_rows = rows; }

const sl_rows *sl_rows_current(void) {
  if (thread_rows != NULL) return thread_rows;
  pthread_once(&once, choose_process_rows);
  return process_rows;
}
