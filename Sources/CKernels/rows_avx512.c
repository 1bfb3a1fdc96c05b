// The rows for x86-64 with AVX-512 F, BW, DQ and VL. For the pragma see rows_avx2.c.
#if defined(__x86_64__)
#include "CKernels.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define SL_TABLE sl_rows_avx512
#define SL_NAME "avx512"
#define SL_ISA SL_AVX512

#pragma clang attribute push( \
    __attribute__((target("avx2,fma,avx512f,avx512bw,avx512vl,avx512dq"))), apply_to = function)
#include "rows/table.inc"
#pragma clang attribute pop
#endif
