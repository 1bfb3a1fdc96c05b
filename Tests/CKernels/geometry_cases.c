// Cases of rows: resampling, rotation and remapping (rows/geometry).
#include "bench.h"

static void resample(run *run) {
  const ptrdiff_t n = run->width;
  for (ptrdiff_t step = 1; step <= 4; step++) {
    for (int is_deep = 0; is_deep < 2; is_deep++) {
      for (ptrdiff_t taps = 2; taps <= 6; taps += 2) {
        run->next_region = 0;
        const ptrdiff_t pixels = n / 2 + taps;
        const void *in = random_samples(run, pixels * step, is_deep);
        int32_t *starts = random_i32(run, n, 0, (int32_t)(pixels - taps));
        const int16_t *weights = random_i16(run, n * taps, -5000, 16000);
        int16_t *out = OUT_I16(n * step);
        const int32_t shift = is_deep ? 14 : 8;
        if (is_deep) {
          CALL(run, resample_row_i16, in, step, starts, weights, taps, n, shift, out);
        } else {
          CALL(run, resample_row_u8, in, step, starts, weights, taps, n, shift, out);
        }
        record(is_deep ? "resample_row_i16" : "resample_row_u8", NUMBER_I16, out, n * step, EXACT);

        float *sums = OUT_FLOAT(pixels * step);
        for (int adds = 0; adds < 2; adds++) {
          if (is_deep) {
            CALL(run, weighted_row_i16, in, .3f, pixels * step, adds, sums);
          } else {
            CALL(run, weighted_row_u8, in, .3f, pixels * step, adds, sums);
          }
        }
        record(is_deep ? "weighted_row_i16" : "weighted_row_u8", NUMBER_FLOAT, sums, pixels * step,
               WITHIN(1e-6));
        const float *floats = random_floats(run, pixels * step, -9000, 30000);
        const float *shares = random_floats(run, n * taps, -.2f, .8f);
        CALL(run, resample_row_float, floats, step, starts, shares, taps, n, out);
        record("resample_row_float", NUMBER_I16, out, n * step, ROUNDED);
      }
    }
  }
}

static void rotate(run *run) {
  static const ptrdiff_t sizes[] = {1, 2, 3, 4, 6, 8};
  const ptrdiff_t columns = run->width < 200 ? run->width : 200;
  for (int k = 0; k < 6; k++) {
    for (int turn = 0; turn < 8; turn++) {
      run->next_region = 0;
      const ptrdiff_t size = sizes[k], height = random_between(run, 1, 37), padding = 5 * size;
      // The source's rows are the result's columns in every second turn.
      const ptrdiff_t along = turn & 1 ? height : columns, across = turn & 1 ? columns : height;
      const ptrdiff_t stride = along * size + padding;
      const uint8_t *in = random_u8(run, stride * across - padding);
      ptrdiff_t pixel = size, row = stride;
      if (turn & 2) in += (along - 1) * size, pixel = -size;
      if (turn & 4) in += (across - 1) * stride, row = -stride;
      const ptrdiff_t out_stride = columns * size + 3 * size;
      uint8_t *out = OUT_U8(out_stride * height);
      CALL(
          run, rotate, in, turn & 1 ? row : pixel, turn & 1 ? pixel : row, size, columns, height,
          out, out_stride);
      record("rotate", NUMBER_U8, out, out_stride * height, EXACT);
    }
  }
}

// Positions as coordinates in 1/32767 pixel: a position on a pixel has two notations.
static void record_positions(
    const char *name, const sl_remap_plane *plane, const sl_remap_positions *positions,
    ptrdiff_t count, int covers) {
  for (ptrdiff_t i = 0; i < count; i++) {
    const int32_t x = (int32_t)(positions->offset[i] % plane->row_bytes / plane->pixel_bytes);
    const int32_t y = (int32_t)(positions->offset[i] / plane->row_bytes);
    const int32_t coordinates[2] = {
        x * 32767 + positions->right[i], y * 32767 + positions->down[i]};
    record(name, NUMBER_I32, coordinates, 2, ((tolerance){40, .1}));
  }
  if (covers) record(name, NUMBER_I16, positions->coverage, count, ((tolerance){40, .1}));
}

static sl_remap_positions empty_positions(run *run, ptrdiff_t count) {
  return (sl_remap_positions){
      (uint32_t *)random_i32(run, count, 0, 99), OUT_I16(count), OUT_I16(count), OUT_I16(count)};
}

static void remap_positions(run *run) {
  const ptrdiff_t n = run->width;
  for (int wide = 0; wide < 2; wide++) {
    run->next_region = 0;
    const sl_remap_plane plane = {wide ? (float)n - 1 : 0, wide ? 99 : 0, 4, (uint32_t)n * 4 + 32};
    const float *table = random_floats(run, 2 * 51, .6f, 1.1f);
    const sl_radial_map map = {table, 50, .5f, (float)n * .4f, 37.5f, 100, 7};
    const ptrdiff_t y = random_between(run, 0, 99);
    sl_remap_positions positions = empty_positions(run, n);
    CALL(run, remap_radial_table, &plane, &map, 0, y, n, &positions);
    record_positions("remap_radial_table", &plane, &positions, n, 1);
    sl_radial_curve curve = {
        SL_RADIAL_TERMS, 50, .02f, {.9f, .05f, .03f, 0, 0, .01f}, {.1f, .2f, .01f}};
    for (int flags = 0; flags < 8; flags++) {
      // Without clamping, all distances are in the range.
      curve.scale = flags & 2 ? .02f : .5f / (float)(n + 99);
      curve.terms = flags & 4 ? SL_RADIAL_TERMS : SL_FEW_RADIAL_TERMS;
      CALL(
          run, remap_radial_curve, &plane, &map, &curve, flags & 1, flags >> 1 & 1, 3, y, n,
          &positions);
      record_positions("remap_radial_curve", &plane, &positions, n, flags >> 1 & 1);
    }
    const float start[2] = {random_float(run, -9, 9), random_float(run, -9, 90)};
    const float slope[2] = {random_float(run, -.1f, 1.3f), random_float(run, -.5f, .5f)};
    CALL(run, remap_line, &plane, start, slope, n, &positions);
    record_positions("remap_line", &plane, &positions, n, 1);
  }
}

static void remap_read(run *run) {
  const ptrdiff_t n = run->width;
  for (ptrdiff_t step = 1; step <= 4; step++) {
    for (int is_deep = 0; is_deep < 2; is_deep++) {
      for (int single = 0; single < 4; single++) {
        run->next_region = 0;
        const ptrdiff_t columns = single & 1 ? 1 : 2 + n % 50, height = single & 2 ? 1 : 9;
        const ptrdiff_t size = is_deep ? 2 : 1, stride = (columns * step + 3) * size;
        const void *first = random_samples(run, (stride * height - 3 * size) / size, is_deep);
        sl_remap_positions positions = {
            allocate(run, (size_t)n * 4, 4), random_i16(run, n, 0, 32767),
            random_i16(run, n, 0, 32767), random_i16(run, n, 0, 32767)};
        for (ptrdiff_t i = 0; i < n; i++) {
          const int32_t x = single & 1 ? 0 : random_between(run, 0, (int32_t)columns - 2);
          const int32_t y = single & 2 ? 0 : random_between(run, 0, (int32_t)height - 2);
          positions.offset[i] = (uint32_t)(y * stride + x * step * size);
          if (i % 3 == 0) positions.coverage[i] = 32767;
          if (i % 7 == 0) positions.coverage[i] = 0;
        }
        const int16_t *background = random_i16(run, 4, 0, 8160);
        int16_t *out = OUT_I16(n * step);
        const int16_t *empty = single == 0 || single == 3 ? background : NULL;
        if (is_deep) {
          CALL(
              run, remap_read_i16, first, stride, step, single & 1, single >> 1, &positions, empty,
              n, out);
        } else {
          CALL(
              run, remap_read_u8, first, stride, step, single & 1, single >> 1, &positions, empty,
              n, out);
        }
        record(is_deep ? "remap_read_i16" : "remap_read_u8", NUMBER_I16, out, n * step, ROUNDED);
      }
    }
  }
  run->next_region = 0;
  const int32_t *sums = random_i32(run, n, -99999, 999999);
  int16_t *out = OUT_I16(n);
  CALL(run, scale_sums, sums, .05f, n, out);
  record("scale_sums", NUMBER_I16, out, n, EXACT);
  // Prefetching doesn't have a result; it must not fault.
  CALL(run, prefetch_row, sums, out, n * 2);
}

static const test_case cases[] = {
    CASE(resample), CASE(rotate), CASE(remap_positions), CASE(remap_read),
};
const test_group geometry_cases = GROUP(cases);
