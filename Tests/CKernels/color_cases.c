// Cases of rows: pixels as planes of floats (rows/color).
#include "bench.h"

#include <string.h>

#define LOAD_STORE(NAME, CHANNELS, IS_DEEP)                                                       \
  static void NAME(run *run) {                                                                    \
    const ptrdiff_t n = run->width;                                                               \
    const void *in = random_samples(run, n * CHANNELS, IS_DEEP);                                  \
    float *planes[4];                                                                             \
    for (int k = 0; k < 4; k++) planes[k] = OUT_FLOAT(n);                                         \
    CALL(run, load_##NAME, in, n, planes[0], planes[1], planes[2], planes[3]);                    \
    record_planes("load_" #NAME, planes, 4, n, EXACT);                                        \
    for (int k = 0; k < 4; k++) planes[k] = random_floats(run, n, -2, 2);                         \
    void *out = IS_DEEP ? (void *)OUT_I16(n * CHANNELS) : (void *)OUT_U8(n * CHANNELS);           \
    CALL(run, store_##NAME, planes[0], planes[1], planes[2], planes[3], n, out);                  \
    record(                                                                                       \
        "store_" #NAME, IS_DEEP ? NUMBER_I16 : NUMBER_U8, out, n * CHANNELS, ROUNDED);     \
  }

LOAD_STORE(bgra_u8, 4, 0)
LOAD_STORE(bgra_i16, 4, 1)
LOAD_STORE(rgba_u8, 4, 0)
LOAD_STORE(rgba_i16, 4, 1)
LOAD_STORE(rgb_u8, 3, 0)
LOAD_STORE(rgb_i16, 3, 1)
LOAD_STORE(gray_u8, 1, 0)
LOAD_STORE(gray_i16, 1, 1)

#define YUV(NAME, IS_DEEP)                                                                        \
  static void NAME(run *run) {                                                                    \
    const sl_yuv_to_rgb decode = {                                                                \
        16, 1 / 219.0f, 1.402f / 224, -.344f / 224, -.714f / 224, 1.772f / 224};                  \
    const sl_rgb_to_yuv encode = {                                                                \
        {65.5f, 128.6f, 24.97f}, {-37.8f, -74.2f, 112}, {112, -93.8f, -18.2f}, 16};               \
    const ptrdiff_t n = run->width, half = (n + 1) / 2;                                           \
    for (ptrdiff_t step = 1; step <= 2; step++) {                                                 \
      const ptrdiff_t chroma = (half - 1) * step + 1;                                             \
      const void *y = random_samples(run, n, IS_DEEP), *u = random_samples(run, chroma, IS_DEEP); \
      const void *v = random_samples(run, chroma, IS_DEEP);                                       \
      float *planes[6];                                                                           \
      for (int k = 0; k < 3; k++) planes[k] = OUT_FLOAT(n);                                       \
      CALL(run, load_##NAME, y, u, v, step, n, &decode, planes[0], planes[1], planes[2]);         \
      record_planes("load_" #NAME, planes, 3, n, WITHIN(1e-5));                                   \
      for (int k = 0; k < 6; k++) planes[k] = random_floats(run, n, -.5f, 1.5f);                  \
      const number kind = IS_DEEP ? NUMBER_I16 : NUMBER_U8;                                       \
      void *luma = IS_DEEP ? (void *)OUT_I16(n) : (void *)OUT_U8(n);                              \
      CALL(run, STORE_LUMA_##NAME, planes[0], planes[1], planes[2], n, &encode, luma);            \
      record("store_luma", kind, luma, n, ROUNDED);                                        \
      void *us = IS_DEEP ? (void *)OUT_I16(chroma) : (void *)OUT_U8(chroma);                      \
      void *vs = IS_DEEP ? (void *)OUT_I16(chroma) : (void *)OUT_U8(chroma);                      \
      CALL(                                                                                       \
          run, STORE_CHROMA_##NAME, planes[0], planes[1], planes[2], planes[3], planes[4],        \
          planes[5], n, &encode, step, us, vs);                                                   \
      record("store_chroma", kind, us, chroma, ROUNDED);                                   \
      record("store_chroma", kind, vs, chroma, ROUNDED);                                   \
    }                                                                                             \
  }

#define STORE_LUMA_yuv_u8 store_luma_u8
#define STORE_LUMA_yuv_i16 store_luma_i16
#define STORE_CHROMA_yuv_u8 store_chroma_u8
#define STORE_CHROMA_yuv_i16 store_chroma_i16
YUV(yuv_u8, 0)
YUV(yuv_i16, 1)

static void curves(run *run) {
  const ptrdiff_t n = run->width;
  const float *tables[3];
  for (int k = 0; k < 3; k++) {
    float *table = random_floats(run, 4 * 256, 0, 0);
    for (int v = 0; v < 256; v++) table[4 * v + (2 - k)] = random_float(run, -1, 2);
    tables[k] = table;
  }
  float *planes[4];
  for (int k = 0; k < 4; k++) planes[k] = OUT_FLOAT(n);
  CALL(
      run, load_curves_u8, random_u8(run, 4 * n), n, tables, planes[0], planes[1], planes[2],
      planes[3]);
  record_planes("load_curves_u8", planes, 4, n, EXACT);
}

static void byte_functions(run *run) {
  const ptrdiff_t n = run->width;
  const uint8_t *in = random_u8(run, 4 * n);
  for (int are_equal = 0; are_equal < 2; are_equal++) {
    sl_byte_tables tables = {.are_equal = are_equal};
    for (int v = 0; v < 256; v++) {
      for (int k = 0; k < 3; k++) {
        tables.entries[k][v] =
            k > 0 && are_equal ? tables.entries[0][v] : (uint8_t)random_between(run, 0, 255);
      }
    }
    uint8_t *out = OUT_U8(4 * n), *in_place = OUT_U8(4 * n);
    CALL(run, look_up_pixels, in, n, &tables, out);
    record("look_up_pixels", NUMBER_U8, out, 4 * n, EXACT);
    memcpy(in_place, in, (size_t)(4 * n));
    CALL(run, look_up_pixels, in_place, n, &tables, in_place);
    expect_equal("look_up_pixels in place", out, in_place, 4 * n);
  }
  for (ptrdiff_t red = 0; red <= 2; red += 2) {
    const float intensity = random_float(run, -1, 1);
    uint8_t *out = OUT_U8(4 * n), *in_place = OUT_U8(4 * n);
    CALL(run, glow_pixels, in, n, red, intensity, out);
    record("glow_pixels", NUMBER_U8, out, 4 * n, ROUNDED);
    memcpy(in_place, in, (size_t)(4 * n));
    CALL(run, glow_pixels, in_place, n, red, intensity, in_place);
    expect_equal("glow_pixels in place", out, in_place, 4 * n);
    // By way of planes of floats.
    float *planes[4];
    for (int k = 0; k < 4; k++) planes[k] = OUT_FLOAT(n);
    CALL(run, load_rgba_u8, in, n, planes[0], planes[1], planes[2], planes[3]);
    CALL(run, glow, planes[red], planes[1], planes[2 - red], n, intensity);
    CALL(run, store_rgba_u8, planes[0], planes[1], planes[2], planes[3], n, in_place);
    expect_equal("glow_pixels by way of planes", in_place, out, 4 * n);
  }
}

typedef struct strip {
  float *planes[4];
} strip;

static strip random_strip(run *run, float least, float greatest) {
  strip strip;
  for (int k = 0; k < 3; k++) strip.planes[k] = random_floats(run, run->width, least, greatest);
  strip.planes[3] = random_floats(run, run->width, 0, 1);
  // Some that are exact.
  for (ptrdiff_t i = 0; i < run->width; i += 5) strip.planes[3][i] = (float)(i / 5 % 2);
  return strip;
}

#define COLOR(s) (s).planes[0], (s).planes[1], (s).planes[2]
#define PIXELS(s) COLOR(s), (s).planes[3]

static void strip_arithmetic(run *run) {
  const ptrdiff_t n = run->width;
  for (int with_alpha = 0; with_alpha < 2; with_alpha++) {
    sl_matrix matrix;
    for (int k = 0; k < 20; k++) matrix.rows[k / 5][k % 5] = random_float(run, -1, 1);
    strip s = random_strip(run, -.5f, 1.5f);
    CALL(run, color_matrix, PIXELS(s), n, &matrix, with_alpha);
    record_planes("color_matrix", s.planes, 4, n, WITHIN(1e-6));
  }
  strip s = random_strip(run, -.5f, 1.5f);
  CALL(run, multiply, COLOR(s), random_floats(run, n, 0, 2), n);
  record_planes("multiply", s.planes, 3, n, EXACT);
  CALL(run, premultiply, PIXELS(s), n);
  record_planes("premultiply", s.planes, 3, n, EXACT);
  CALL(run, unpremultiply, PIXELS(s), n);
  record_planes("unpremultiply", s.planes, 3, n, EXACT);
  CALL(run, limit_to_alpha, PIXELS(s), n);
  record_planes("limit_to_alpha", s.planes, 3, n, EXACT);
  float *values = random_floats(run, n, -1, 2);
  CALL(run, mix, values, random_floats(run, n, -1, 2), n, random_float(run, -1, 2));
  record("mix", NUMBER_FLOAT, values, n, WITHIN(1e-6));
}

static void transfer(run *run) {
  const ptrdiff_t n = run->width;
  float *values = random_floats(run, n, -2, 2);
  values[0] = 0;
  CALL(run, power, values, n, random_float(run, .3f, 3));
  record("power", NUMBER_FLOAT, values, n, WITHIN(1e-5));
  values = random_floats(run, n, -1, 1.5f);
  CALL(run, srgb_to_linear, values, n);
  record("srgb_to_linear", NUMBER_FLOAT, values, n, WITHIN(1e-5));
  values = random_floats(run, n, -.2f, 1.5f);
  CALL(run, linear_to_srgb, values, n);
  record("linear_to_srgb", NUMBER_FLOAT, values, n, WITHIN(1e-5));
}

static void interpolate_field(run *run) {
  const ptrdiff_t n = run->width, spacing = random_between(run, 1, 32);
  const ptrdiff_t x = random_between(run, 0, 99);
  const ptrdiff_t knots = (x + n - 1) / spacing + 2;
  const float *upper = random_floats(run, knots, 0, 2), *lower = random_floats(run, knots, 0, 2);
  float *out = OUT_FLOAT(n);
  CALL(run, interpolate_field, upper, lower, random_float(run, 0, 1), spacing, x, n, out);
  record("interpolate_field", NUMBER_FLOAT, out, n, WITHIN(1e-5));
}

static void point_functions(run *run) {
  const ptrdiff_t n = run->width;
  const ptrdiff_t intervals = random_between(run, 1, 64);
  float *values = random_floats(run, n, -.5f, 1.5f);
  CALL(run, lookup_curve, values, n, random_floats(run, intervals + 1, 0, 1), intervals);
  record("lookup_curve", NUMBER_FLOAT, values, n, WITHIN(1e-4));
  values = random_floats(run, n, -.5f, 1.5f);
  CALL(run, posterize, values, n, (float)random_between(run, 2, 30));
  record("posterize", NUMBER_FLOAT, values, n, ((tolerance){.5, .001}));
  strip s = random_strip(run, -.2f, 1.2f);
  CALL(run, vibrance, COLOR(s), n, random_float(run, -1, 1));
  record_planes("vibrance", s.planes, 3, n, WITHIN(1e-4));
  s = random_strip(run, -.2f, 1.2f);
  CALL(run, glow, COLOR(s), n, random_float(run, 0, 1));
  record_planes("glow", s.planes, 3, n, WITHIN(1e-5));
  s = random_strip(run, -.2f, 1.2f);
  const float position[4] = {
      random_float(run, -9, 9), random_float(run, -9, 9), random_float(run, -.3f, .3f),
      random_float(run, -.3f, .3f)};
  CALL(run, dot_screen, COLOR(s), n, position, random_float(run, 0, 9));
  record_planes("dot_screen", s.planes, 3, n, WITHIN(1e-3));
}

static void lookup_cube(run *run) {
  const ptrdiff_t n = run->width, size = random_between(run, 2, 9);
  const float *table = random_floats(run, 4 * size * size * size, 0, 1);
  const float domain[6] = {0, -.1f, .1f, 1, .9f, 1.1f};
  strip s = random_strip(run, -.2f, 1.2f);
  CALL(run, lookup_cube, COLOR(s), n, table, size, domain);
  record_planes("lookup_cube", s.planes, 3, n, WITHIN(1e-4));
}

static void composition(run *run) {
  const ptrdiff_t n = run->width;
  for (int opaque = 0; opaque < 2; opaque++) {
    for (int kind = SL_COMPOSE_OVER; kind <= SL_COMPOSE_SCREEN; kind++) {
      run->next_region = 0;
      strip s = random_strip(run, 0, 1), o = random_strip(run, 0, .5f);
      CALL(run, composite, PIXELS(s), PIXELS(o), n, (sl_composition)kind, opaque);
      record_planes("composite", s.planes, 4, n, WITHIN(1e-4));
    }
    run->next_region = 0;
    strip s = random_strip(run, 0, 1), o = random_strip(run, 0, .5f);
    CALL(run, blend_with_mask, PIXELS(s), PIXELS(o), random_floats(run, n, 0, 1), n, opaque);
    record_planes("blend_with_mask", s.planes, 4, n, WITHIN(1e-4));
  }
}

static void transition(run *run) {
  const ptrdiff_t n = run->width;
  for (int softness = 0; softness < 3; softness++) {
    for (ptrdiff_t repeat = 1; repeat <= 8; repeat++) {
      run->next_region = 0;
      const int32_t width = softness == 0 ? 1 : softness == 1 ? 6554 : 65536;
      const sl_soft_edge edge = {
          random_between(run, 0, 65536 + width), width, ((1 << 24) + width / 2) / width};
      uint16_t *weights = (uint16_t *)OUT_I16(n);
      CALL(run, dissolve_weights, random_bits(run), &edge, repeat, n, weights);
      record("dissolve_weights", NUMBER_U16, weights, n, EXACT);
      const uint8_t *from = random_u8(run, n);
      uint8_t *out = random_u8(run, n);
      CALL(run, mix_weighted_u8, from, weights, n, out);
      record("mix_weighted_u8", NUMBER_U8, out, n, EXACT);
      CALL(run, mix_evenly_u8, from, (uint16_t)random_between(run, 0, 256), n, out);
      record("mix_evenly_u8", NUMBER_U8, out, n, EXACT);
    }
    run->next_region = 0;
    const uint8_t *from = random_u8(run, 4 * n);
    uint8_t *out = random_u8(run, 4 * n);
    uint16_t *weights = (uint16_t *)OUT_I16(4 * n);
    for (ptrdiff_t i = 0; i < n; i++) {
      const uint16_t weight = (uint16_t)random_between(run, 0, 256);
      for (ptrdiff_t k = 0; k < 4; k++) weights[4 * i + k] = weight;
      // Runs of pixels with equal alpha take another path.
      if (softness > 0 && i / 16 % 2 == 0) out[4 * i + 3] = from[4 * i + 3];
    }
    CALL(run, mix_straight_u8, from, weights, n, out);
    record("mix_straight_u8", NUMBER_U8, out, 4 * n, EXACT);
  }
}

static const test_case cases[] = {
    CASE(curves), CASE(byte_functions), CASE(bgra_u8), CASE(bgra_i16), CASE(rgba_u8),
    CASE(rgba_i16), CASE(rgb_u8), CASE(rgb_i16), CASE(gray_u8), CASE(gray_i16), CASE(yuv_u8),
    CASE(yuv_i16), CASE(strip_arithmetic), CASE(transfer), CASE(interpolate_field),
    CASE(point_functions), CASE(lookup_cube), CASE(composition), CASE(transition),
};
const test_group color_cases = GROUP(cases);
