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

// Returns memory for `size` bytes between two unreadable pages. The run's placement decides whether
// it begins after the first, ends at the second, or is unaligned between them.
void *allocate(run *run, size_t size, size_t alignment);

uint32_t random_bits(run *run);
// min ... max
int32_t random_between(run *run, int32_t min, int32_t max);
float random_float(run *run, float min, float max);

uint8_t *random_u8(run *run, ptrdiff_t count);
int16_t *random_i16(run *run, ptrdiff_t count, int32_t min, int32_t max);
int32_t *random_i32(run *run, ptrdiff_t count, int32_t min, int32_t max);
float *random_floats(run *run, ptrdiff_t count, float min, float max);
void *random_samples(run *run, ptrdiff_t count, int is_deep);
uint8_t *copy_u8(run *run, const uint8_t *bytes, ptrdiff_t count);

// Arrays that a row writes completely, with noise as their first contents.
#define OUT_U8(count) random_u8(run, count)
#define OUT_I16(count) random_i16(run, count, -32768, 32767)
#define OUT_FLOAT(count) random_floats(run, count, -1, 1)

// The permitted difference between instruction sets: no number of a row differs by more than
// `max_difference` (of floats beyond 1, relative to them), and at most `max_fraction` of the
// numbers differ at all.
typedef struct tolerance {
  double max_difference;
  double max_fraction;
} tolerance;

// Keeps the results of a row for the comparison.
void record(
    const char *row, number number, const void *results, ptrdiff_t count, tolerance tolerance);
// Keeps the results of a row in several planes of floats.
void record_planes(
    const char *row, float *const *planes, int plane_count, ptrdiff_t count, tolerance tolerance);
// Fails the test if a row gives different bytes in place and in separate memory.
void expect_equal(const char *row, const void *expected, const void *actual, ptrdiff_t size);

#define CALL(run, row, ...) ((run)->rows->row(__VA_ARGS__))

#define EXACT ((tolerance){0, 0})
#define WITHIN(difference) ((tolerance){difference, 1})
// Equal except for numbers halfway between two, which a fused multiplication may round differently.
#define ROUNDED ((tolerance){1, .01})

typedef struct test_case {
  const char *name;
  void (*run)(run *run);
} test_case;

// The cases of a family of rows.
typedef struct test_group {
  const test_case *cases;
  int count;
} test_group;

#define CASE(NAME) {#NAME, NAME}
#define GROUP(CASES) {CASES, sizeof CASES / sizeof CASES[0]}

extern const test_group color_cases, chain_cases, blur_cases, window_cases, geometry_cases,
    cell_cases, matte_cases;
