// Cases of rows: blurs, sharpening and changes of depth (rows/blur).
#include "bench.h"

// Weights of a symmetric filter, the centre's first, that sum to 32768 over both sides.
static int16_t *symmetric_weights(run *run, ptrdiff_t radius) {
  int16_t *weights = allocate(run, (size_t)(radius + 1) * 2, 2);
  int32_t rest = 32767;
  for (ptrdiff_t k = radius; k > 0; k--) {
    weights[k] = (int16_t)random_between(run, 0, rest / (int32_t)(3 * k));
    rest -= 2 * weights[k];
  }
  weights[0] = (int16_t)rest;
  return weights;
}

static void fir(run *run) {
  const ptrdiff_t n = run->width;
  for (ptrdiff_t radius = 0; radius <= 6; radius += radius < 3 ? 1 : 3) {
    for (int is_deep = 0; is_deep < 2; is_deep++) {
      run->next_region = 0;
      const int16_t *weights = symmetric_weights(run, radius);
      const void *rows[13];
      for (ptrdiff_t k = 0; k <= 2 * radius; k++) rows[k] = random_samples(run, n, is_deep);
      int16_t *out = OUT_I16(n);
      if (is_deep) {
        CALL(run, fir_vertical_i16, rows, radius, weights, n, out);
      } else {
        CALL(run, fir_vertical_u8, rows, radius, weights, n, out);
      }
      record(is_deep ? "fir_vertical_i16" : "fir_vertical_u8", NUMBER_I16, out, n, EXACT);
      if (is_deep) {
        CALL(run, fir_vertical_exact_i16, rows, radius, weights, n, out);
      } else {
        CALL(run, fir_vertical_exact_u8, rows, radius, weights, n, out);
      }
      record(
          is_deep ? "fir_vertical_exact_i16" : "fir_vertical_exact_u8", NUMBER_I16, out, n, EXACT);
    }
    for (ptrdiff_t step = 1; step <= 4; step++) {
      for (int narrow = 0; narrow < 2; narrow++) {
        run->next_region = 0;
        const int16_t *weights = symmetric_weights(run, radius);
        const ptrdiff_t margin = radius * step;
        const int16_t *in =
            random_i16(run, n + 2 * margin, narrow ? 0 : -32768, narrow ? 16383 : 32767) + margin;
        int16_t *out = OUT_I16(n);
        CALL(run, fir_horizontal, in, step, radius, weights, n, narrow, out);
        record("fir_horizontal", NUMBER_I16, out, n, EXACT);
        CALL(run, fir_horizontal_exact, in, step, radius, weights, n, narrow, out);
        record("fir_horizontal_exact", NUMBER_I16, out, n, EXACT);
        if (!narrow) continue;
        const uint8_t *samples = random_u8(run, n);
        int16_t *gains = random_i16(run, radius + 1, -1000, 1000);
        CALL(
            run, sharpen_horizontal_u8, samples, in, step, radius,
            (int16_t)random_between(run, 0, 32767), gains, n, out);
        record("sharpen_horizontal_u8", NUMBER_I16, out, n, EXACT);
      }
    }
  }
}

static void depth(run *run) {
  const ptrdiff_t n = run->width;
  for (ptrdiff_t shift = 0; shift <= 7; shift++) {
    run->next_region = 0;
    const int16_t *in = random_i16(run, n, -32768, 32767);
    const int16_t *other = random_i16(run, n, -32768, 32767);
    uint8_t *bytes = OUT_U8(n);
    int16_t *out = OUT_I16(n);
    CALL(run, narrow_u8, in, shift, n, bytes);
    record("narrow_u8", NUMBER_U8, bytes, n, EXACT);
    CALL(run, narrow_i16, in, shift, n, out);
    record("narrow_i16", NUMBER_I16, out, n, EXACT);
    const int16_t weight = (int16_t)random_between(run, 0, 32767);
    CALL(run, lerp_i16, in, other, weight, n, out);
    record("lerp_i16", NUMBER_I16, out, n, EXACT);
    const int16_t *sums = random_i16(run, 4 * n, -9000, 32767);
    const uint8_t *source = random_u8(run, 4 * n);
    uint8_t *pixels = OUT_U8(4 * n);
    CALL(run, narrow_colors, sums, shift, source, n, pixels);
    record("narrow_colors", NUMBER_U8, pixels, 4 * n, EXACT);
    if (shift == 0) continue;
    CALL(run, lerp_u8, in, other, weight, shift, n, bytes);
    record("lerp_u8", NUMBER_U8, bytes, n, EXACT);
    const int16_t *more = random_i16(run, 4 * n, -9000, 32767);
    CALL(run, lerp_colors, sums, more, weight, shift, source, n, pixels);
    record("lerp_colors", NUMBER_U8, pixels, 4 * n, EXACT);
  }
  int16_t *wide = OUT_I16(n);
  const uint8_t *bytes = random_u8(run, n);
  CALL(run, widen, bytes, n, wide);
  record("widen", NUMBER_I16, wide, n, EXACT);
  CALL(run, widen_u16, bytes, n, (uint16_t *)wide);
  record("widen_u16", NUMBER_I16, wide, n, EXACT);

  run->next_region = 0;
  const uint8_t *from_u8 = random_u8(run, 4 * n);
  const int16_t *from_i16 = random_i16(run, 4 * n, -2000, 10000);
  uint8_t *to_u8 = random_u8(run, 4 * n);
  int16_t *to_i16 = random_i16(run, 4 * n, -2000, 10000);
  CALL(run, copy_alpha_u8, from_u8, n, to_u8);
  record("copy_alpha_u8", NUMBER_U8, to_u8, 4 * n, EXACT);
  CALL(run, copy_alpha_i16_u8, from_i16, n, to_u8);
  record("copy_alpha_i16_u8", NUMBER_U8, to_u8, 4 * n, EXACT);
  CALL(run, copy_alpha_i16, from_i16, n, to_i16);
  record("copy_alpha_i16", NUMBER_I16, to_i16, 4 * n, EXACT);
  CALL(run, copy_alpha_u8_i16, from_u8, n, to_i16);
  record("copy_alpha_u8_i16", NUMBER_I16, to_i16, 4 * n, EXACT);
}

static void pyramid(run *run) {
  const ptrdiff_t n = run->width;
  for (ptrdiff_t step = 1; step <= 4; step++) {
    for (int is_deep = 0; is_deep < 2; is_deep++) {
      run->next_region = 0;
      const ptrdiff_t number = random_between(run, 1, 9);
      const void *rows[9];
      for (ptrdiff_t k = 0; k < number; k++) rows[k] = random_samples(run, n, is_deep);
      int32_t *sums = random_i32(run, n, 0, 99);
      if (is_deep) {
        CALL(run, sum_rows_i16, rows, number, n, sums);
        CALL(run, accumulate_i16, rows[0], n, sums);
      } else {
        CALL(run, sum_rows_u8, rows, number, n, sums);
        CALL(run, accumulate_u8, rows[0], n, sums);
      }
      record(is_deep ? "sum_rows_i16, accumulate_i16" : "sum_rows_u8, accumulate_u8", NUMBER_I32,
             sums, n, EXACT);
    }
    for (ptrdiff_t factor = 2; factor <= 32; factor *= 2) {
      run->next_region = 0;
      const ptrdiff_t count = (n + factor - 1) / factor;
      const int32_t *sums = random_i32(run, n * step, 0, 255 * (int32_t)factor);
      int16_t *out = OUT_I16(count * step);
      const float scale = 64.0f / (float)(factor * factor);
      CALL(run, downsample_cells, sums, step, n, factor, scale, count, out);
      record("downsample_cells", NUMBER_I16, out, count * step, EXACT);
      const int16_t *small = random_i16(run, (count + 2) * step, -32768, 32767) + step;
      int16_t *large = OUT_I16(n * step);
      CALL(run, upsample_cells, small, step, n, factor, large);
      record("upsample_cells", NUMBER_I16, large, n * step, EXACT);
    }
    run->next_region = 0;
    int16_t *row = random_i16(run, (n + 14) * step, -32768, 32767);
    CALL(run, replicate_edges, row + 7 * step, step, n, 7);
    record("replicate_edges", NUMBER_I16, row, (n + 14) * step, EXACT);
    const ptrdiff_t blocks = n < 4 ? 1 : 3;
    const ptrdiff_t edges[4] = {0, n < 4 ? n : n / 3, n / 2 + 1, n};
    const int32_t *sums = random_i32(run, n * step, 0, 20000);
    int16_t *out = OUT_I16(n * step);
    CALL(run, mean_blocks, sums, step, edges, blocks, 1.0f, out);
    record("mean_blocks", NUMBER_I16, out, n * step, EXACT);
  }
}

static void box(run *run) {
  const ptrdiff_t n = run->width;
  for (ptrdiff_t radius = 0; radius <= 5; radius += 1 + radius / 2) {
    const float fraction = radius == 1 ? 0 : random_float(run, 0, 1);
    for (int is_deep = 0; is_deep < 2; is_deep++) {
      run->next_region = 0;
      const void *a = random_samples(run, n, is_deep), *b = random_samples(run, n, is_deep);
      int32_t *sums = random_i32(run, n, 0, 1 << 15);
      int16_t *out = OUT_I16(n);
      const float scale = (is_deep ? 1.0f : 64.0f) / (2 * (float)radius + 1 + 2 * fraction);
      if (is_deep) {
        CALL(run, slide_sums_i16, a, b, n, sums);
        CALL(run, box_vertical_i16, sums, a, b, fraction, scale, n, out);
      } else {
        CALL(run, slide_sums_u8, a, b, n, sums);
        CALL(run, box_vertical_u8, sums, a, b, fraction, scale, n, out);
      }
      record(is_deep ? "slide_sums_i16" : "slide_sums_u8", NUMBER_I32, sums, n, EXACT);
      record(is_deep ? "box_vertical_i16" : "box_vertical_u8", NUMBER_I16, out, n, ROUNDED);
    }
    // As large as 16 bits hold.
    const float side = 2 * (float)radius + 1 + 2 * fraction;
    uint16_t shift = 0;
    while (255 * side * (float)(2 << shift) < 65536) shift++;
    const sl_box_scale scale = {
        .shift = shift, .fraction = (uint16_t)(fraction * 65535),
        .factor = (uint16_t)(8388608 / side / (float)(1 << shift)), .bits = 4};
    run->next_region = 0;
    const sl_box_rows rows = {random_u8(run, n), random_u8(run, n), random_u8(run, n)};
    uint16_t *sums = (uint16_t *)random_i16(run, n, 0, 255 * (2 * (int32_t)radius + 1));
    uint8_t *bytes = OUT_U8(n);
    int16_t *means = OUT_I16(n);
    CALL(run, box_vertical_narrow_u8, &rows, &scale, n, sums, bytes);
    record("box_vertical_narrow_u8", NUMBER_U16, sums, n, EXACT);
    record("box_vertical_narrow_u8", NUMBER_U8, bytes, n, EXACT);
    CALL(run, box_vertical_narrow_u16, &rows, &scale, n, sums, (uint16_t *)means);
    record("box_vertical_narrow_u16", NUMBER_U16, sums, n, EXACT);
    record("box_vertical_narrow_u16", NUMBER_U16, means, n, EXACT);
    for (ptrdiff_t step = 1; step <= 4; step++) {
      run->next_region = 0;
      const ptrdiff_t margin = (radius + 1) * step;
      const int16_t *in = random_i16(run, n * step + 2 * margin, 0, 16320) + margin;
      int16_t *out = OUT_I16(n * step);
      CALL(run, box_horizontal, in, step, n, radius, fraction, out);
      record("box_horizontal", NUMBER_I16, out, n * step, ROUNDED);
      const uint16_t *narrow =
          (const uint16_t *)random_i16(run, n * step + 2 * margin, 0, 255) + margin;
      uint8_t *result = OUT_U8(n * step);
      CALL(run, box_horizontal_narrow, narrow, step, n, radius, &scale, result);
      record("box_horizontal_narrow", NUMBER_U8, result, n * step, EXACT);
    }
  }
}

static void lines(run *run) {
  const ptrdiff_t n = run->width;
  for (int is_deep = 0; is_deep < 2; is_deep++) {
    for (ptrdiff_t count = 1; count <= 9; count += 4) {
      run->next_region = 0;
      sl_line_tap taps[9], small[9];
      int32_t sum = 0, small_sum = 0;
      for (ptrdiff_t k = 0; k < count; k++) {
        taps[k].first = random_samples(run, n, is_deep);
        taps[k].second = random_samples(run, n, is_deep);
        taps[k].first_weight = (int16_t)random_between(run, 0, 4096);
        taps[k].second_weight = (int16_t)random_between(run, 1, 3000);
        sum += taps[k].first_weight + taps[k].second_weight;
        small[k] = taps[k];
        small[k].first_weight = (int16_t)random_between(run, 0, 30);
        small[k].second_weight = (int16_t)random_between(run, 1, 33);
        small_sum += small[k].first_weight + small[k].second_weight;
      }
      int16_t *out = OUT_I16(n);
      if (is_deep) {
        CALL(run, line_mean_fine_i16, taps, count, 1.0f / (float)sum, n, out);
        record("line_mean_fine_i16", NUMBER_I16, out, n, ROUNDED);
      } else {
        CALL(run, line_mean_fine_u8, taps, count, 1.0f / (float)sum, n, out);
        record("line_mean_fine_u8", NUMBER_I16, out, n, ROUNDED);
        CALL(run, line_mean_coarse_u8, small, count, 4, 1.0f / (float)small_sum, n, out);
        record("line_mean_coarse_u8", NUMBER_I16, out, n, ROUNDED);
      }
    }
  }
}

static void zoom(run *run) {
  const ptrdiff_t n = run->width;
  for (ptrdiff_t step = 1; step <= 4; step++) {
    for (int is_deep = 0; is_deep < 2; is_deep++) {
      run->next_region = 0;
      enum { count = 8 };
      sl_zoom_tap taps[count];
      float shares[count];
      const float center = random_float(run, 0, (float)n);
      for (int k = 0; k < count; k++) {
        shares[k] = 1 - .1f * (float)k;
        int16_t *lanes = allocate(run, 64, 2);
        for (int lane = 0; lane < 32; lane++) {
          lanes[lane] = (int16_t)(shares[k] * (float)(lane / step) * 1024);
        }
        taps[k] = (sl_zoom_tap){
            random_samples(run, n * step, is_deep), random_samples(run, n * step, is_deep),
            shares[k], center * (1 - shares[k]), (int16_t)random_between(run, 0, 32767), lanes};
      }
      int16_t *out = OUT_I16(n * step);
      if (is_deep) {
        CALL(run, zoom_blur_i16, taps, count, step, n, out);
        record("zoom_blur_i16", NUMBER_I16, out, n * step, ((tolerance){1, .05}));
        continue;
      }
      CALL(run, zoom_blur_u8, taps, count, step, n, NULL, out);
      record("zoom_blur_u8", NUMBER_I16, out, n * step, WITHIN(8));
      const ptrdiff_t block = run->rows->zoom_block;
      if (step != 4 || n <= 16) continue;
      // Where positions are unused, the row is called without them.
      int32_t *first = allocate(run, (size_t)(n / 8 + 1) * count * 4, 4);
      uint32_t *pixels = allocate(run, (size_t)(n + 16) * count * 4, 4);
      sl_zoom_positions positions = {first, pixels};
      if (block > 0) CALL(run, zoom_blur_positions, shares, count, center, n, positions);
      CALL(run, zoom_blur_u8, taps, count, step, n, block > 0 ? &positions : NULL, out);
      record("zoom_blur_u8 by positions", NUMBER_I16, out, n * step, WITHIN(64));
    }
  }
}

static void sharpen(run *run) {
  const ptrdiff_t n = run->width;
  for (int is_deep = 0; is_deep < 2; is_deep++) {
    run->next_region = 0;
    const tolerance rounded = ROUNDED;
    const void *in = random_samples(run, n, is_deep);
    const int16_t *blurred = random_i16(run, n, 0, 16320);
    int16_t *out = OUT_I16(n);
    const float unit = 1 / 64.0f, up = random_float(run, 0, 2), down = random_float(run, 0, 2);
    if (is_deep) {
      CALL(run, mix_blurred_i16, in, blurred, unit, up, down, n, out);
    } else {
      CALL(run, mix_blurred_u8, in, blurred, unit, up, down, n, out);
    }
    record(is_deep ? "mix_blurred_i16" : "mix_blurred_u8", NUMBER_I16, out, n, rounded);
    for (ptrdiff_t step = 1; step <= 2; step++) {
      run->next_region = 0;
      const ptrdiff_t half = (n + 1) / 2;
      const void *upper = random_samples(run, n, is_deep), *lower = random_samples(run, n, is_deep);
      const int16_t *blurred_upper = random_i16(run, n, 0, 8160);
      const int16_t *blurred_lower = random_i16(run, n, 0, 8160);
      const void *chroma = random_samples(run, half * step, is_deep);
      const int16_t *target = random_i16(run, half * step, 0, 8160);
      int16_t *result = OUT_I16(half * step);
      if (is_deep) {
        CALL(
            run, mix_blurred_chroma_i16, upper, lower, blurred_upper, blurred_lower, n, chroma,
            target, step, up, down, 9, result);
      } else {
        CALL(
            run, mix_blurred_chroma_u8, upper, lower, blurred_upper, blurred_lower, n, chroma,
            target, step, up, down, 9, result);
      }
      record(is_deep ? "mix_blurred_chroma_i16" : "mix_blurred_chroma_u8", NUMBER_I16, result,
             half * step, rounded);
    }
    for (ptrdiff_t step = 3; step <= 4; step++) {
      run->next_region = 0;
      const int16_t weights[3] = {6966, 23436, 2366};
      const void *pixels = random_samples(run, n * step, is_deep);
      int16_t *luma = OUT_I16(n);
      if (is_deep) {
        CALL(run, luma_i16, pixels, step, weights, n, luma);
      } else {
        CALL(run, luma_u8, pixels, step, weights, n, luma);
      }
      record(is_deep ? "luma_i16" : "luma_u8", NUMBER_I16, luma, n, EXACT);
      for (int has_alpha = 0; has_alpha <= (step == 4); has_alpha++) {
        const int16_t *smooth = random_i16(run, n, 0, 16320);
        int16_t *result = OUT_I16(n * step);
        if (is_deep) {
          CALL(run, sharpen_luma_i16, pixels, step, luma, smooth, up, has_alpha, n, result);
        } else {
          CALL(run, sharpen_luma_u8, pixels, step, luma, smooth, up, has_alpha, n, result);
        }
        record(is_deep ? "sharpen_luma_i16" : "sharpen_luma_u8", NUMBER_I16, result, n * step,
               rounded);
      }
    }
  }
  run->next_region = 0;
  uint8_t *bytes = random_u8(run, 4 * n);
  CALL(run, limit_to_alpha_u8, bytes, n);
  record("limit_to_alpha_u8", NUMBER_U8, bytes, 4 * n, EXACT);
  int16_t *deep = random_i16(run, 4 * n, -20000, 20000);
  CALL(run, clamp_by_alpha_i16, deep, n);
  record("clamp_by_alpha_i16", NUMBER_I16, deep, 4 * n, EXACT);
}

static const test_case cases[] = {
    CASE(fir), CASE(depth), CASE(pyramid), CASE(box), CASE(lines), CASE(zoom), CASE(sharpen),
};
const test_group blur_cases = GROUP(cases);
