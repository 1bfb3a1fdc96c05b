#include "CKernels.h"

#include <pthread.h>
#include <string.h>

extern const sl_look_rows sl_look_rows_portable;
#if defined(__x86_64__)
extern const sl_look_rows sl_look_rows_avx2;
extern const sl_look_rows sl_look_rows_avx512;
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const sl_look_rows *current;

static void choose(void) {
  current = &sl_look_rows_portable;
#if defined(__x86_64__)
  const char *name = sl_rows_current()->name;
  if (strcmp(name, "avx512") == 0) current = &sl_look_rows_avx512;
  if (strcmp(name, "avx2") == 0) current = &sl_look_rows_avx2;
#endif
}

const sl_look_rows *sl_look_rows_current(void) {
  pthread_once(&once, choose);
  return current;
}
