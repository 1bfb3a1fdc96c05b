// Compares the pixel rows of instruction sets on random samples with a fixed seed: odd widths,
// unaligned starts, padded strides, and guard pages around every row.
//
//   rows_test                        every instruction set of this machine with the portable rows
//   rows_test write FILE             the results of the portable rows, for another machine
//   rows_test compare FILE [exact]   the portable rows of this machine with such a file; `exact`
//                                    permits no difference in rows of floats either
//
// The exit status is 1 if a row differs by more than the tolerance of its case, or if a row that
// works in place gives other results in place than in separate memory.
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct result {
  const char *row;
  number number;
  tolerance tolerance;
  ptrdiff_t count;
  size_t offset;
} result;

typedef struct results {
  result *items;
  ptrdiff_t count, capacity;
  uint8_t *bytes;
  size_t size, byte_capacity;
} results;

static results *current;

static size_t size_of(number number) {
  switch (number) {
    case NUMBER_U8: return 1;
    case NUMBER_U16: return 2;
    case NUMBER_I16: return 2;
    case NUMBER_I64: return 8;
    default: return 4;
  }
}

void record(
    const char *row, number number, const void *values, ptrdiff_t count, tolerance tolerance) {
  const size_t size = (size_t)count * size_of(number);
  if (current->count == current->capacity) {
    current->capacity = 2 * current->capacity + 64;
    current->items = realloc(current->items, (size_t)current->capacity * sizeof(result));
  }
  if (current->size + size > current->byte_capacity) {
    current->byte_capacity = 2 * current->byte_capacity + size;
    current->bytes = realloc(current->bytes, current->byte_capacity);
  }
  memcpy(current->bytes + current->size, values, size);
  current->items[current->count++] = (result){row, number, tolerance, count, current->size};
  current->size += size;
}

void record_planes(
    const char *row, float *const *planes, int plane_count, ptrdiff_t count, tolerance tolerance) {
  for (int k = 0; k < plane_count; k++) record(row, NUMBER_FLOAT, planes[k], count, tolerance);
}

void expect_equal(const char *row, const void *expected, const void *actual, ptrdiff_t size) {
  if (memcmp(expected, actual, (size_t)size) == 0) return;
  fprintf(stderr, "%s: other bytes than in separate memory\n", row);
  exit(1);
}

static void perform(
    results *results, const test_case *test, const sl_rows *rows, ptrdiff_t width, int placement) {
  results->count = 0;
  results->size = 0;
  current = results;
  run run = {.rows = rows, .width = width, .placement = placement};
  run.random = 0x9e3779b97f4a7c15u + (uint64_t)width * 1000 + (uint64_t)placement;
  for (int k = 0; k < 8; k++) random_bits(&run);
  test->run(&run);
}

static double number_at(const uint8_t *bytes, number number, ptrdiff_t index) {
  uint8_t u8;
  uint16_t u16;
  int16_t i16;
  int32_t i32;
  int64_t i64;
  float f;
#define READ(value) \
  return memcpy(&value, bytes + (size_t)index * sizeof value, sizeof value), (double)value
  switch (number) {
    case NUMBER_U8: READ(u8);
    case NUMBER_U16: READ(u16);
    case NUMBER_I16: READ(i16);
    case NUMBER_I32: READ(i32);
    case NUMBER_I64: READ(i64);
    case NUMBER_FLOAT: READ(f);
  }
  return 0;
}

// The differences found in a row over all widths.
typedef struct finding {
  const char *row;
  tolerance tolerance;
  long long compared, different, beyond;
  double max_difference;
} finding;

enum { max_findings = 256 };
static finding findings[max_findings];
static int finding_count;

static finding *finding_of(const char *row) {
  for (int k = 0; k < finding_count; k++) {
    if (strcmp(findings[k].row, row) == 0) return &findings[k];
  }
  if (finding_count == max_findings) exit(2);
  findings[finding_count].row = row;
  return &findings[finding_count++];
}

static void compare(const results *results, const uint8_t *expected, int exact) {
  for (ptrdiff_t k = 0; k < results->count; k++) {
    const result *r = &results->items[k];
    finding *finding = finding_of(r->row);
    if (!exact) finding->tolerance = r->tolerance;
    finding->compared += r->count;
    const uint8_t *a = expected + r->offset, *b = results->bytes + r->offset;
    if (memcmp(a, b, (size_t)r->count * size_of(r->number)) == 0) continue;
    for (ptrdiff_t i = 0; i < r->count; i++) {
      const double left = number_at(a, r->number, i), right = number_at(b, r->number, i);
      if (left == right) continue;
      double difference = fabs(left - right);
      if (r->number == NUMBER_FLOAT && fabs(left) > 1) difference /= fabs(left);
      // Also if one of the two isn't a number.
      if (!(difference <= finding->tolerance.max_difference)) finding->beyond++;
      if (!(difference <= finding->max_difference)) finding->max_difference = difference;
      finding->different++;
    }
  }
}

// Prints the rows that differ, and returns whether all keep their tolerances.
static int report(const char *title) {
  int passed = 1;
  long long compared = 0;
  printf("%s\n", title);
  for (int k = 0; k < finding_count; k++) {
    const finding *f = &findings[k];
    compared += f->compared;
    if (f->different == 0) continue;
    const int fails =
        f->beyond > 0 || (double)f->different > f->tolerance.max_fraction * (double)f->compared;
    passed &= !fails;
    printf(
        "  %-28s %9lld of %9lld differ, by at most %g (tolerance: %g, %g of them)%s\n", f->row,
        f->different, f->compared, f->max_difference, f->tolerance.max_difference,
        f->tolerance.max_fraction, fails ? ": FAILED" : "");
  }
  printf(
      "  %lld results of %d rows compared: %s\n", compared, finding_count,
      passed ? "passed" : "FAILED");
  memset(findings, 0, sizeof findings);
  finding_count = 0;
  return passed;
}

static const ptrdiff_t wide[] = {127, 128, 129, 257, 640, 1001, 1923};
enum {
  narrow_count = 67,
  width_count = narrow_count + sizeof wide / sizeof wide[0],
  placements = 3,
};

static ptrdiff_t width_at(int index) {
  return index < narrow_count ? index + 1 : wide[index - narrow_count];
}

static const test_group *const groups[] = {
    &color_cases, &chain_cases, &blur_cases, &window_cases, &geometry_cases, &cell_cases,
    &matte_cases,
};
enum { group_count = sizeof groups / sizeof groups[0] };

#define EACH_RUN(test, width, placement)                                                          \
  for (int group = 0; group < group_count; group++)                                               \
    for (const test_case *test = groups[group]->cases;                                            \
         test < groups[group]->cases + groups[group]->count; test++)                              \
      for (int index = 0; index < width_count; index++)                                           \
        for (int placement = 0, width = (int)width_at(index); placement < placements; placement++)

static int compare_instruction_sets(const sl_rows *portable) {
  static const char *const names[] = {"avx2", "avx512"};
  static results expected, found;
  int passed = 1, compared = 0;
  for (int k = 0; k < 2; k++) {
    const sl_rows *rows = sl_rows_named(names[k]);
    if (rows == NULL) {
      printf("%s: not of this machine\n", names[k]);
      continue;
    }
    EACH_RUN(test, width, placement) {
      perform(&expected, test, portable, width, placement);
      perform(&found, test, rows, width, placement);
      compare(&found, expected.bytes, 0);
    }
    passed &= report(names[k]);
    compared++;
  }
  if (compared == 0) printf("There is no second instruction set to compare.\n");
  return passed;
}

static int write_results(const sl_rows *rows, FILE *file) {
  static results found;
  EACH_RUN(test, width, placement) {
    perform(&found, test, rows, width, placement);
    const uint64_t size = found.size;
    fwrite(&size, sizeof size, 1, file);
    fwrite(found.bytes, 1, found.size, file);
  }
  return fflush(file) == 0 && !ferror(file);
}

static int compare_results(const sl_rows *rows, FILE *file, int exact) {
  static results found;
  static uint8_t *expected;
  EACH_RUN(test, width, placement) {
    perform(&found, test, rows, width, placement);
    uint64_t size = 0;
    expected = realloc(expected, found.size);
    if (fread(&size, sizeof size, 1, file) != 1 || size != found.size ||
        fread(expected, 1, found.size, file) != found.size) {
      fprintf(stderr, "The file is not of this test: %s\n", test->name);
      return 0;
    }
    compare(&found, expected, exact);
  }
  return report(exact ? "portable rows, exactly" : "portable rows");
}

int main(int count, char **arguments) {
  const sl_rows *portable = sl_rows_named("portable");
  if (count == 1) return !compare_instruction_sets(portable);
  FILE *file = count > 2 ? fopen(arguments[2], arguments[1][0] == 'w' ? "wb" : "rb") : NULL;
  if (file == NULL) {
    fprintf(stderr, "usage: rows_test [write FILE | compare FILE [exact]]\n");
    return 2;
  }
  if (strcmp(arguments[1], "write") == 0) return !write_results(portable, file);
  return !compare_results(portable, file, count > 3);
}
