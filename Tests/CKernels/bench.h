// Runs of rows on random samples: memory with guard pages, and a record of results.
#pragma once

#include "CKernels.h"

// One run of a case: a table, a width, and where the samples are placed in memory.
typedef struct run {
  const sl_rows *rows;
  ptrdiff_t width;
  uint64_t random;
  int placement;
  int next_region;
} run;

typedef enum number {
  NUMBER_U8,
  NUMBER_U16,
  NUMBER_I16,
  NUMBER_I32,
  NUMBER_I64,
  NUMBER_FLOAT,
} number;

// Returns memory for `size` bytes. Before the region, and after it, is a page that cannot be read:
// by the run's placement the memory ends at the one, begins after the other, or is unaligned
// between them.
void *take(run *run, size_t size, size_t alignment);

uint32_t random_bits(run *run);
// least ... greatest
int32_t random_between(run *run, int32_t least, int32_t greatest);
float random_float(run *run, float least, float greatest);

uint8_t *random_u8(run *run, ptrdiff_t count);
int16_t *random_i16(run *run, ptrdiff_t count, int32_t least, int32_t greatest);
float *random_floats(run *run, ptrdiff_t count, float least, float greatest);
void *random_samples(run *run, ptrdiff_t count, int is_deep);

// The permitted difference between instruction sets: no number of a row differs by more than `most`
// (of floats beyond 1, relative to them), and at most `share` of them differ at all.
typedef struct tolerance {
  double most;
  double share;
} tolerance;

// Keeps the results of a row for the comparison.
void record(
    const char *row, number number, const void *results, ptrdiff_t count, tolerance tolerance);

// A call of a row. Programs that measure define it themselves.
#ifndef CALL
#define CALL(run, row, ...) ((run)->rows->row(__VA_ARGS__))
#endif

#define EXACT ((tolerance){0, 0})
#define WITHIN(difference) ((tolerance){difference, 1})
// Equal but for numbers that lie between two, which a fused multiplication rounds to the other one.
#define ROUNDED ((tolerance){1, .01})

typedef struct test_case {
  const char *name;
  void (*run)(run *run);
} test_case;

extern const test_case test_cases[];
extern const int test_case_count;
