#include "CKernels.h"

#include <stddef.h>

extern const sl_look_rows sl_look_rows_portable;
#if defined(__x86_64__)
extern const sl_rows sl_rows_avx2, sl_rows_avx512;
extern const sl_look_rows sl_look_rows_avx2, sl_look_rows_avx512;
#endif

const sl_look_rows *sl_look_rows_current(void) {
#if defined(__x86_64__)
  const sl_rows *rows = sl_rows_current();
  if (rows == &sl_rows_avx512) return &sl_look_rows_avx512;
  if (rows == &sl_rows_avx2) return &sl_look_rows_avx2;
#endif
  return &sl_look_rows_portable;
}
