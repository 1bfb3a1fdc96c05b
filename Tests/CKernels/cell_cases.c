// Cases of rows: cells and statistics (rows/cells).
#include "bench.h"

static void cell_sums(run *run) {
  const ptrdiff_t n = run->width;
  for (ptrdiff_t step = 1; step <= 4; step++) {
    run->next_region = 0;
    int32_t runs[5] = {0, (int32_t)n / 4, (int32_t)n / 4, (int32_t)n / 2, (int32_t)n};
    const int32_t owners[4] = {2, 0, 1, 2};
    for (int is_deep = 0; is_deep < 2; is_deep++) {
      const void *in = random_samples(run, n * step, is_deep);
      int64_t totals[12] = {0};
      if (is_deep) {
        CALL(run, sum_cells_i16, in, step, runs, owners, 4, totals);
      } else {
        CALL(run, sum_cells_u8, in, step, runs, owners, 4, totals);
      }
      record(is_deep ? "sum_cells_i16" : "sum_cells_u8", NUMBER_I64, totals, 12, EXACT);
    }
    int16_t *out = OUT_I16(n * step);
    CALL(run, fill_cells, random_i16(run, 12, -32768, 32767), step, runs, owners, 4, out);
    record("fill_cells", NUMBER_I16, out, n * step, EXACT);
  }
}

static void statistics(run *run) {
  const ptrdiff_t n = run->width;
  for (ptrdiff_t step = 3; step <= 4; step++) {
    const int16_t weights[3] = {6966, 23436, 2366};
    const uint8_t *pixels = random_u8(run, n * step);
    uint8_t *levels = OUT_U8(n);
    CALL(run, luma_levels, pixels, step, weights, n, levels);
    record("luma_levels", NUMBER_U8, levels, n, EXACT);
  }
  const uint8_t *left = random_u8(run, n), *right = random_u8(run, n);
  uint8_t *out = OUT_U8(n);
  CALL(run, clamp_u8, left, 16, 235, n, out);
  record("clamp_u8", NUMBER_U8, out, n, EXACT);
  uint32_t counts[256] = {0};
  CALL(run, histogram_u8, left, n, counts);
  record("histogram_u8", NUMBER_I32, counts, 256, EXACT);
  int64_t difference = CALL(run, absolute_difference_u8, left, right, n);
  record("absolute_difference_u8", NUMBER_I64, &difference, 1, EXACT);
}

static const test_case cases[] = {
    CASE(cell_sums), CASE(statistics),
};
const test_group cell_cases = GROUP(cases);
