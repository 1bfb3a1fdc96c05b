// The rows for x86-64 with AVX2 and FMA. A pragma sets the target instead of compiler flags:
// SwiftPM does not build packages with unsafe flags as dependencies.
#if defined(__x86_64__)
#include "CKernels.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define SL_TABLE sl_rows_avx2
#define SL_NAME "avx2"
#define SL_ISA SL_AVX2

#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#include "rows/table.inc"
#pragma clang attribute pop
#endif
