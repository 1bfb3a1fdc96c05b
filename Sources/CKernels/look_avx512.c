// The rows for x86-64 with AVX-512 (F, BW, VL, DQ).
#if defined(__x86_64__)
#include "CKernels.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define SL_NAME "avx512"
#define SL_TABLE sl_look_rows_avx512
#define SL_LEVEL 3

#pragma clang attribute push( \
    __attribute__((target("avx2,fma,avx512f,avx512bw,avx512vl,avx512dq"))), apply_to = function)
#include "rows/look/table.inc"
#pragma clang attribute pop
#endif
