// Cases of rows: mattes, guides and blends with a backdrop (rows/mattes).
#include "bench.h"

#include <string.h>

static float *whole_floats(run *run, ptrdiff_t count, int32_t least, int32_t greatest) {
  float *numbers = allocate(run, (size_t)count * 4, 4);
  for (ptrdiff_t i = 0; i < count; i++) numbers[i] = (float)random_between(run, least, greatest);
  return numbers;
}

static void guided(run *run) {
  const ptrdiff_t n = run->width;
  for (ptrdiff_t radius = 1; radius <= 16; radius += radius == 5 ? 11 : 4) {
    run->next_region = 0;
    const ptrdiff_t stride = n + 2 * radius;
    // Rows of a guide, their sums with zeros beyond both ends, and models.
    const float *rows = whole_floats(run, 4 * n, -128, 127);
    float *sums = allocate(run, (size_t)(13 * stride) * 4, 4);
    memset(sums, 0, (size_t)(13 * stride) * 4);
    for (int k = 0; k < 3; k++) CALL(run, guided_add_row, rows, n, 1, n, sums + radius, stride);
    CALL(run, guided_add_row, rows, n, -1, n, sums + radius, stride);
    record("guided_add_row", NUMBER_FLOAT, sums, 13 * stride, EXACT);
    float *models = OUT_FLOAT(4 * n);
    CALL(run, guided_solve, sums + radius, stride, n, radius, 2, 65, models, n);
    record("guided_solve", NUMBER_FLOAT, models, 4 * n, WITHIN(5e-3));
    const float *planes = random_floats(run, 4 * stride, -1, 1);
    const float *pointers[3] = {planes + radius, planes + radius, planes + radius};
    float *out = OUT_FLOAT(4 * n);
    CALL(run, guided_average, pointers, 3, stride, n, radius, out, n);
    record("guided_average", NUMBER_FLOAT, out, 4 * n, WITHIN(1e-5));
  }
  for (ptrdiff_t factor = 1; factor <= 64; factor += 1 + factor / 2) {
    // Memory for the widest rows at the greatest factor would be too much.
    if (n * factor > 15000) break;
    run->next_region = 0;
    const float *models = random_floats(run, 4 * n, -1, 1), *matrix = random_floats(run, 16, -1, 1);
    const ptrdiff_t wide = n * factor, stride = wide + 4;
    float *out = OUT_FLOAT(4 * stride);
    CALL(run, guided_expand, models, n, n, matrix, factor, out, stride);
    for (int k = 0; k < 4; k++) {
      record("guided_expand", NUMBER_FLOAT, out + k * stride, wide, WITHIN(1e-5));
    }
  }
}

static void guides(run *run) {
  const ptrdiff_t n = run->width;
  for (ptrdiff_t step = 1; step <= 4; step++) {
    run->next_region = 0;
    const ptrdiff_t red = step == 1 ? 0 : step > 2 ? 2 : 1;
    const int16_t *in = random_i16(run, n * step, -4000, 12000);
    float *out = OUT_FLOAT(3 * n);
    if (step != 2) {
      CALL(run, guide_pixels, in, step, red, 0, n, out, n);
      record("guide_pixels", NUMBER_FLOAT, out, 3 * n, EXACT);
    }
    if (step <= 2) {
      const int32_t conversion[6] = {512, 19077, 26149, -6419, -13320, 33050};
      const int16_t *luma = random_i16(run, n, -4000, 12000);
      const int16_t *v = random_i16(run, n * step, 0, 8160);
      CALL(run, guide_yuv, luma, in, v, step, n, conversion, out, n);
      record("guide_yuv", NUMBER_FLOAT, out, 3 * n, EXACT);
    }
  }
  run->next_region = 0;
  const float *guide = whole_floats(run, 3 * n, -128, 127);
  const sl_key key = {
      {-.1687f, -.3313f, .5f}, {.5f, -.4187f, -.0813f}, {-.31f, -.95f}, 56, 1e5f, 25, 8.3f};
  float *distance = OUT_FLOAT(n);
  CALL(run, key_distance, guide, n, n, &key, distance);
  record("key_distance", NUMBER_FLOAT, distance, n, WITHIN(1));
  float *luma = OUT_FLOAT(n), *detail = OUT_FLOAT(n), *texture = OUT_FLOAT(n);
  CALL(run, guide_luma, guide, n, n, luma);
  record("guide_luma", NUMBER_FLOAT, luma, n, WITHIN(1e-5));
  CALL(run, laplacian, guide, guide + n, guide + 2 * n, n, detail);
  record("laplacian", NUMBER_FLOAT, detail, n, EXACT);
  const float *mask = whole_floats(run, n, 0, 1);
  float difference = CALL(run, masked_difference, guide, guide + n, mask, 40, n);
  record("masked_difference", NUMBER_FLOAT, &difference, 1, EXACT);
  const float *plate = whole_floats(run, 3 * n, -128, 127);
  const float gains[3] = {1.2f, 1, .9f};
  CALL(run, plate_texture, guide, n, plate, n, gains, detail, luma, n, texture);
  record("plate_texture", NUMBER_FLOAT, texture, n, WITHIN(1e-4));
  const float *rows[3] = {guide, guide + n, guide + 2 * n};
  float *mean = OUT_FLOAT(n), *matte = OUT_FLOAT(n);
  CALL(run, box_mean, rows, 3, n, 2, mean);
  record("box_mean", NUMBER_FLOAT, mean, n, WITHIN(1e-5));
  const sl_plate parameters = {{1.2f, 1, .9f}, .45f, 1.02f, -1, .05f, 10, .6f, 1};
  CALL(run, plate_distance, guide, n, plate, n, texture, mask, &parameters, n, matte);
  record("plate_distance", NUMBER_FLOAT, matte, n, WITHIN(1e-3));
}

static void mattes(run *run) {
  const ptrdiff_t n = run->width, half = (n + 1) / 2;
  for (int is_deep = 0; is_deep < 2; is_deep++) {
    run->next_region = 0;
    const number kind = is_deep ? NUMBER_I16 : NUMBER_U8;
    const float *upper = random_floats(run, 4 * n, -.004f, .008f);
    const float *lower = random_floats(run, 4 * n, -.004f, .008f);
    const sl_matte matte = {upper, lower, n, .3f, .15f, 1 / .7f};
    float *alpha = OUT_FLOAT(n);
    for (ptrdiff_t step = 3; step <= 4; step++) {
      const void *in = random_samples(run, n * step, is_deep);
      if (is_deep) {
        CALL(run, matte_pixels_i16, in, step, &matte, n, alpha);
      } else {
        CALL(run, matte_pixels_u8, in, step, &matte, n, alpha);
      }
      record("matte_pixels", NUMBER_FLOAT, alpha, n, WITHIN(1e-4));
      const int16_t *backdrop = random_i16(run, step * n, 0, 8160);
      // The last one without a key.
      for (int channel = -1; channel < 4; channel++) {
        const sl_key_blend key = {channel < 3 ? channel : -1, .7f, {20, 60, 30}, channel == 3};
        void *out = is_deep ? (void *)OUT_I16(n * step) : (void *)OUT_U8(n * step);
        if (is_deep) {
          CALL(run, blend_pixels_i16, in, step, alpha, backdrop, n, &key, step == 4, n, out);
        } else {
          CALL(run, blend_pixels_u8, in, step, alpha, backdrop, n, &key, step == 4, n, out);
        }
        record("blend_pixels", kind, out, n * step, ROUNDED);
      }
    }
    float *excess = OUT_FLOAT(half), *mean = OUT_FLOAT(half);
    float *cb = OUT_FLOAT(2 * half), *cr = OUT_FLOAT(2 * half);
    const int first = run->next_region;
    for (int variant = 0; variant < 4; variant++) {
      const ptrdiff_t step = 1 + variant % 2;
      const sl_key_blend_yuv key = {
          {-.3f, -.9f}, {-1.8f, -.3f}, {.5f, -.3f, -.4f}, {60, 3, -3}, 16, 219, 112, variant / 2};
      run->next_region = first;
      const void *luma = random_samples(run, n, is_deep);
      const void *u = random_samples(run, half * step, is_deep);
      const void *v = step == 1 ? random_samples(run, half, is_deep)
                                : (const void *)((const char *)u + (is_deep ? 2 : 1));
      const int16_t *behind = random_i16(run, n, 0, 8160);
      const int16_t *behind_u = random_i16(run, half * step, 0, 8160);
      const int16_t *behind_v = step == 1 ? random_i16(run, half, 0, 8160) : behind_u + 1;
      void *out = is_deep ? (void *)OUT_I16(n) : (void *)OUT_U8(n);
      void *out_u = is_deep ? (void *)OUT_I16(half * step) : (void *)OUT_U8(half * step);
      void *out_v = step == 2 ? (void *)((char *)out_u + (is_deep ? 2 : 1))
                    : is_deep ? (void *)OUT_I16(half)
                              : (void *)OUT_U8(half);
      if (is_deep) {
        CALL(run, key_chroma_i16, u, v, step, &key, half, cb, cr, excess);
        CALL(run, matte_yuv_i16, luma, cb, cr, &matte, n, alpha);
        CALL(run, mean_alpha, alpha, alpha, n, mean);
        CALL(run, blend_luma_i16, luma, alpha, excess, behind, &key, n, out);
        CALL(
            run, blend_chroma_i16, u, v, step, mean, excess, behind_u, behind_v, &key, half, out_u,
            out_v);
      } else {
        CALL(run, key_chroma_u8, u, v, step, &key, half, cb, cr, excess);
        CALL(run, matte_yuv_u8, luma, cb, cr, &matte, n, alpha);
        CALL(run, mean_alpha, alpha, alpha, n, mean);
        CALL(run, blend_luma_u8, luma, alpha, excess, behind, &key, n, out);
        CALL(
            run, blend_chroma_u8, u, v, step, mean, excess, behind_u, behind_v, &key, half, out_u,
            out_v);
      }
      record("key_chroma", NUMBER_FLOAT, excess, half, WITHIN(1e-4));
      record("matte_yuv", NUMBER_FLOAT, alpha, n, WITHIN(1e-4));
      record("mean_alpha", NUMBER_FLOAT, mean, half, WITHIN(1e-4));
      record("blend_luma", kind, out, n, ROUNDED);
      record("blend_chroma", kind, out_u, half * step, ROUNDED);
      if (step == 1) record("blend_chroma", kind, out_v, half, ROUNDED);
    }
  }
}

// Rows that lie between two rows of levels: of backdrops, and of light around a person.
static void light(run *run) {
  const ptrdiff_t n = run->width, half = (n + 1) / 2;
  for (ptrdiff_t step = 1; step <= 4; step++) {
    run->next_region = 0;
    const float *upper = random_floats(run, n, -20, 280), *lower = random_floats(run, n, -20, 280);
    const float *alpha = random_floats(run, n, -.3f, 1);
    int16_t *row = OUT_I16(n), *pairs = OUT_I16(half * step);
    CALL(run, mix_rows, upper, lower, .3f, n, row);
    record("mix_rows", NUMBER_I16, row, n, ROUNDED);
    CALL(run, mix_pairs, upper, lower, .3f, n, step, pairs);
    record("mix_pairs", NUMBER_I16, pairs, half * step, ROUNDED);
    uint8_t *bytes = random_u8(run, n * step);
    CALL(run, add_light_u8, bytes, step, alpha, upper, lower, .3f, n);
    record("add_light", NUMBER_U8, bytes, n * step, ROUNDED);
    int16_t *deep = random_i16(run, n * step, 0, 8160);
    CALL(run, add_light_i16, deep, step, alpha, upper, lower, .3f, n);
    record("add_light", NUMBER_I16, deep, n * step, ROUNDED);
  }
  run->next_region = 0;
  uint8_t *samples = random_u8(run, n);
  const uint8_t *factors = random_u8(run, n);
  uint16_t *summands = allocate(run, (size_t)n * 2, 2);
  for (ptrdiff_t i = 0; i < n; i++) {
    summands[i] = (uint16_t)random_between(run, 0, 255 * (255 - factors[i]));
  }
  CALL(run, draw_caption, samples, factors, summands, n);
  record("draw_caption", NUMBER_U8, samples, n, EXACT);
}

// The change of colours by the detail that a guided filter leaves out.
static void details(run *run) {
  const ptrdiff_t n = run->width;
  for (int is_deep = 0; is_deep < 2; is_deep++) {
    for (int is_skin = 0; is_skin < 2; is_skin++) {
      run->next_region = 0;
      const float *upper = random_floats(run, 4 * n, -.002f, .002f);
      const float *lower = random_floats(run, 4 * n, -.002f, .002f);
      const sl_detail detail = {
          upper, lower, n, .3f, .8f, .0004f, .2f, is_skin, {-.0007f, -.0013f, .002f},
          {.002f, -.0016f, -.0003f}, {-.1f, .1f}, {3, 4}};
      for (ptrdiff_t step = 3; step <= 4; step++) {
        const void *in = random_samples(run, n * step, is_deep);
        int16_t *out = OUT_I16(n * step);
        if (is_deep) {
          CALL(run, detail_pixels_i16, in, step, &detail, step == 4, n, out);
        } else {
          CALL(run, detail_pixels_u8, in, step, &detail, step == 4, n, out);
        }
        record("detail_pixels", NUMBER_I16, out, n * step, ROUNDED);
      }
      const void *luma = random_samples(run, n, is_deep);
      const float *cb = random_floats(run, n, -112, 112), *cr = random_floats(run, n, -112, 112);
      int16_t *out = OUT_I16(n);
      if (is_deep) {
        CALL(run, detail_luma_i16, luma, cb, cr, &detail, 219, n, out);
      } else {
        CALL(run, detail_luma_u8, luma, cb, cr, &detail, 219, n, out);
      }
      record("detail_luma", NUMBER_I16, out, n, ROUNDED);
    }
  }
}

static const test_case cases[] = {
    CASE(guided), CASE(guides), CASE(mattes), CASE(light), CASE(details),
};
const test_group matte_cases = GROUP(cases);
