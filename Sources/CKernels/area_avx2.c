// The rows for x86-64 with AVX2 and FMA. The target is set here and not by compiler flags, so that
// the package needs no unsafe flags and can be a dependency.
#if defined(__x86_64__)
#include "CKernels.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define SL_NAME "avx2"
#define SL_TABLE sl_area_rows_avx2
#define SL_LEVEL 2

#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#include "rows/area/table.inc"
#pragma clang attribute pop
#endif
