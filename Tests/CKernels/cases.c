// A case for each row, or each kind of rows: random samples of the widths and places of the run.
#include "bench.h"

#include <string.h>

// The arrays of a row that the row writes wholly, filled with noise first.
#define OUT_U8(count) random_u8(run, count)
#define OUT_I16(count) random_i16(run, count, -32768, 32767)
#define OUT_FLOAT(count) random_floats(run, count, -1, 1)

static int32_t *random_i32(run *run, ptrdiff_t count, int32_t least, int32_t greatest) {
  int32_t *numbers = take(run, (size_t)count * 4, 4);
  for (ptrdiff_t i = 0; i < count; i++) numbers[i] = random_between(run, least, greatest);
  return numbers;
}

// Weights of a symmetric filter, the centre's first, that sum to 32768 over both sides.
static int16_t *symmetric_weights(run *run, ptrdiff_t radius) {
  int16_t *weights = take(run, (size_t)(radius + 1) * 2, 2);
  int32_t rest = 32767;
  for (ptrdiff_t k = radius; k > 0; k--) {
    weights[k] = (int16_t)random_between(run, 0, rest / (int32_t)(3 * k));
    rest -= 2 * weights[k];
  }
  weights[0] = (int16_t)rest;
  return weights;
}

// --- rows/color
// -----------------------------------------------------------------------------------

static void record_planes(
    const char *name, float *const *planes, int number, ptrdiff_t count, tolerance tolerance) {
  for (int k = 0; k < number; k++) record(name, NUMBER_FLOAT, planes[k], count, tolerance);
}

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

static void strips(run *run) {
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

static void looks(run *run) {
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

// --- rows/chains
// ----------------------------------------------------------------------------------

static sl_chain random_chain(run *run, int32_t terms) {
  sl_chain chain = {.shift = random_between(run, 6, 14), .term_count = terms};
  for (int c = 0; c < 3; c++) {
    const int32_t one = 1 << chain.shift;
    for (int k = 0; k < 4; k++) {
      chain.coefficients[c][k] = (int16_t)random_between(run, -one, one);
    }
    chain.bias[c] = random_between(run, -100, 100) * one;
    for (int t = 0; t < SL_CHAIN_TERMS; t++) {
      chain.terms[t][c] = (int16_t)random_between(run, -3000, 3000);
    }
    chain.last[c] = (int16_t)random_between(run, -2000, 2000);
  }
  return chain;
}

static void random_fields(run *run, const int16_t **fields, int32_t number) {
  for (int k = 0; k < number; k++) fields[k] = random_i16(run, run->width, -32768, 32767);
}

static void folded_pixels(run *run) {
  const ptrdiff_t n = run->width;
  const uint8_t *in = random_u8(run, 4 * n);
  uint8_t *out = OUT_U8(4 * n);
  sl_chain chain = random_chain(run, 0);
  CALL(run, folded_pixels, in, n, &chain, out);
  record("folded_pixels", NUMBER_U8, out, 4 * n, EXACT);
  for (int32_t terms = 0; terms <= SL_CHAIN_TERMS; terms++) {
    const int16_t *fields[1 + SL_CHAIN_TERMS];
    random_fields(run, fields, 1 + terms);
    chain = random_chain(run, terms);
    CALL(run, folded_pixels_fields, in, n, &chain, fields, out);
    record("folded_pixels_fields", NUMBER_U8, out, 4 * n, EXACT);
  }
}

static void folded_planes(run *run) {
  const ptrdiff_t n = run->width;
  for (int32_t terms = -1; terms <= SL_CHAIN_TERMS; terms++) {
    run->next_region = 0;
    const int16_t *fields[1 + SL_CHAIN_TERMS];
    random_fields(run, fields, 1 + terms);
    sl_chain_plane plane = {.term_count = terms < 0 ? 0 : terms};
    plane.last = (int16_t)random_between(run, -2000, 2000);
    for (int t = 0; t < SL_CHAIN_TERMS; t++) {
      plane.terms[t] = (int16_t)random_between(run, -3000, 3000);
    }
    const uint8_t *in = random_u8(run, n);
    const int16_t *shares = random_i16(run, (n + 1) / 2, -9000, 9000);
    const int16_t k = (int16_t)random_between(run, -16000, 16000);
    uint8_t *out = OUT_U8(n);
    CALL(run, folded_luma, in, shares, k, n, &plane, terms < 0 ? NULL : fields, out);
    record("folded_luma", NUMBER_U8, out, n, EXACT);
    int16_t *values = random_i16(run, n, -32768, 32767);
    CALL(run, finish_plane, values, n, &plane, terms < 0 ? NULL : fields);
    record("finish_plane", NUMBER_I16, values, n, EXACT);
  }
}

static void chroma(run *run) {
  const ptrdiff_t n = run->width;
  for (ptrdiff_t step = 1; step <= 2; step++) {
    run->next_region = 0;
    uint8_t *u = random_u8(run, n * step), *v = step == 2 ? u + 1 : random_u8(run, n);
    int16_t *us = OUT_I16(n), *vs = OUT_I16(n);
    CALL(run, load_chroma_rows, u, v, step, n, us, vs);
    record("load_chroma_rows", NUMBER_I16, us, n, EXACT);
    record("load_chroma_rows", NUMBER_I16, vs, n, EXACT);
    us = random_i16(run, n, -300, 600), vs = random_i16(run, n, -32768, 32767);
    CALL(run, store_chroma_rows, us, vs, step, n, u, v);
    record("store_chroma_rows", NUMBER_U8, u, n * step, EXACT);
    if (step == 1) record("store_chroma_rows", NUMBER_U8, v, n, EXACT);
  }
  const uint8_t *upper = random_u8(run, n), *lower = random_u8(run, n);
  int16_t *out = OUT_I16((n + 1) / 2);
  CALL(run, mean_luma, upper, lower, n, out);
  record("mean_luma", NUMBER_I16, out, (n + 1) / 2, EXACT);
  for (int has_first = 0; has_first < 2; has_first++) {
    const int16_t *inputs[3];
    for (int k = 0; k < 3; k++) inputs[k] = random_i16(run, n, 0, 255 * 128);
    int16_t *weights = random_i16(run, 3, -32768, 32767);
    if (!has_first) weights[0] = 0;
    int16_t *sums = OUT_I16(n);
    const int16_t bias = (int16_t)random_between(run, -8000, 8000);
    CALL(run, combine_planes, inputs[0], inputs[1], inputs[2], weights, bias, n, sums);
    record("combine_planes", NUMBER_I16, sums, n, EXACT);
  }
}

static void convert(run *run) {
  const ptrdiff_t n = run->width, half = (n + 1) / 2;
  const uint8_t *luma = random_u8(run, n);
  const int16_t *shares[3];
  for (int k = 0; k < 3; k++) shares[k] = random_i16(run, half + 1, -9000, 9000);
  uint8_t *pixels = OUT_U8(4 * n);
  CALL(run, luma_to_pixels, luma, shares, random_i16(run, 3, -20000, 20000), n, pixels);
  record("luma_to_pixels", NUMBER_U8, pixels, 4 * n, EXACT);

  const uint8_t *upper = random_u8(run, 4 * n), *lower = random_u8(run, 4 * n);
  const int16_t *ku = random_i16(run, 4, -8192, 8192), *kv = random_i16(run, 4, -8192, 8192);
  const int32_t biases[2] = {random_between(run, -9999999, 9999999), 128 << 17};
  uint8_t *bytes = OUT_U8(n);
  CALL(run, pixels_to_luma, upper, ku, biases[0] >> 3, n, bytes);
  record("pixels_to_luma", NUMBER_U8, bytes, n, EXACT);
  int16_t *us = OUT_I16(half), *vs = OUT_I16(half);
  CALL(run, pixels_to_chroma, upper, lower, ku, kv, biases, n, us, vs);
  record("pixels_to_chroma", NUMBER_I16, us, half, EXACT);
  record("pixels_to_chroma", NUMBER_I16, vs, half, EXACT);

  uint8_t *opaque = random_u8(run, 4 * n);
  CALL(run, set_opaque, opaque, n);
  record("set_opaque", NUMBER_U8, opaque, 4 * n, EXACT);
  uint8_t *out = OUT_U8(4 * n);
  int32_t writes = CALL(run, premultiply_pixels, upper, n, out);
  record("premultiply_pixels", NUMBER_U8, out, 4 * n, EXACT);
  record("premultiply_pixels", NUMBER_I32, &writes, 1, EXACT);
  writes = CALL(run, premultiply_pixels, opaque, n, out);
  record("premultiply_pixels", NUMBER_I32, &writes, 1, EXACT);

  uint8_t *pairs = OUT_U8(2 * n), *first = OUT_U8(n), *second = OUT_U8(n);
  CALL(run, interleave, luma, bytes, n, pairs);
  record("interleave", NUMBER_U8, pairs, 2 * n, EXACT);
  CALL(run, deinterleave, pairs, n, first, second);
  record("deinterleave", NUMBER_U8, first, n, EXACT);
  record("deinterleave", NUMBER_U8, second, n, EXACT);
  uint8_t *three = OUT_U8(3 * n);
  CALL(run, rgba_to_rgb, upper, n, three);
  record("rgba_to_rgb", NUMBER_U8, three, 3 * n, EXACT);
  CALL(run, rgb_to_rgba, three, n, out);
  record("rgb_to_rgba", NUMBER_U8, out, 4 * n, EXACT);
}

static void fields(run *run) {
  const ptrdiff_t n = run->width;
  static const ptrdiff_t spacings[] = {32, 32, 16, 7, 1};
  for (int k = 0; k < 5; k++) {
    run->next_region = 0;
    const ptrdiff_t spacing = spacings[k], knots = (n + spacing - 1) / spacing + 1;
    // Gentle slopes and, in the second, steep ones.
    const float least = k == 1 ? -1.9f : .9f, greatest = k == 1 ? 1.9f : 1.1f;
    const float *upper = random_floats(run, knots, least, greatest);
    const float *lower = random_floats(run, knots, least, greatest);
    for (int multiplies = 0; multiplies < 2; multiplies++) {
      int16_t *out = random_i16(run, n, 0, 16384);
      CALL(run, field_row, upper, lower, random_float(run, 0, 1), spacing, n, multiplies, out);
      record("field_row", NUMBER_I16, out, n, ((tolerance){2, .01}));
    }
  }
  const uint8_t *noise = random_u8(run, n);
  for (int multiplies = 0; multiplies < 2; multiplies++) {
    int16_t *out = random_i16(run, n, -32768, 32767);
    CALL(run, grain_row, noise, (int16_t)random_between(run, 0, 16384), n, multiplies, out);
    record("grain_row", NUMBER_I16, out, n, EXACT);
  }
  const int16_t *upper = random_i16(run, n, -32768, 32767);
  const int16_t *lower = random_i16(run, n, -32768, 32767);
  int16_t *out = OUT_I16((n + 1) / 2);
  CALL(run, mean_field, upper, lower, n, out);
  record("mean_field", NUMBER_I16, out, (n + 1) / 2, EXACT);
}

// --- rows/blur
// ------------------------------------------------------------------------------------

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
        CALL(run, fir_horizontal_exact, in, step, radius, weights, n, out);
        record("fir_horizontal_exact", NUMBER_I16, out, n, EXACT);
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

static void cells(run *run) {
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
    CALL(run, fill_cells, random_i16(run, 12, -32768, 32767), step, runs, owners, 4, out);
    record("fill_cells", NUMBER_I16, out, n * step, EXACT);
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
        int16_t *lanes = take(run, 64, 2);
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
      // Where positions are of no use, the row is called with none.
      int32_t *first = take(run, (size_t)(n / 8 + 1) * count * 4, 4);
      uint32_t *pixels = take(run, (size_t)(n + 16) * count * 4, 4);
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
      const int16_t *goal = random_i16(run, half * step, 0, 8160);
      int16_t *result = OUT_I16(half * step);
      if (is_deep) {
        CALL(
            run, mix_blurred_chroma_i16, upper, lower, blurred_upper, blurred_lower, n, chroma,
            goal, step, up, down, 9, result);
      } else {
        CALL(
            run, mix_blurred_chroma_u8, upper, lower, blurred_upper, blurred_lower, n, chroma, goal,
            step, up, down, 9, result);
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

// --- rows/windows
// ---------------------------------------------------------------------------------

static void convolve(run *run) {
  const ptrdiff_t n = run->width;
  for (ptrdiff_t taps = 2; taps <= 26; taps += 8) {
    for (int is_deep = 0; is_deep < 2; is_deep++) {
      run->next_region = 0;
      const void *inputs[26];
      for (ptrdiff_t k = 0; k < taps; k++) inputs[k] = random_samples(run, n, is_deep);
      const int16_t *weights = random_i16(run, taps, -4000, 5000);
      const int32_t bias = random_between(run, -99999, 99999), shift = random_between(run, 6, 14);
      int16_t *out = OUT_I16(n);
      if (is_deep) {
        CALL(run, convolve_i16, inputs, weights, taps, bias, shift, n, out);
      } else {
        CALL(run, convolve_u8, inputs, weights, taps, bias, shift, n, out);
      }
      record(is_deep ? "convolve_i16" : "convolve_u8", NUMBER_I16, out, n, EXACT);
    }
    run->next_region = 0;
    const float *floats[26];
    for (ptrdiff_t k = 0; k < taps; k++) floats[k] = random_floats(run, n, 0, 255);
    const float *weights = random_floats(run, taps, -1, 1);
    int16_t *out = OUT_I16(n);
    CALL(run, convolve_float, floats, weights, taps, random_float(run, -9, 9), n, out);
    record("convolve_float", NUMBER_I16, out, n, ROUNDED);
  }
  for (int is_deep = 0; is_deep < 2; is_deep++) {
    run->next_region = 0;
    const void *in = random_samples(run, n, is_deep);
    float *out = OUT_FLOAT(n);
    if (is_deep) {
      CALL(run, to_float_i16, in, n, out);
    } else {
      CALL(run, to_float_u8, in, n, out);
    }
    record(is_deep ? "to_float_i16" : "to_float_u8", NUMBER_FLOAT, out, n, EXACT);
    for (ptrdiff_t step = 1; step <= 4; step++) {
      const void *rows[3];
      for (int k = 0; k < 3; k++) rows[k] = random_samples(run, n * step, is_deep);
      void *result = is_deep ? (void *)OUT_I16(n * step) : (void *)OUT_U8(n * step);
      if (is_deep) {
        CALL(run, median_i16, rows[0], rows[1], rows[2], step, n, result);
      } else {
        CALL(run, median_u8, rows[0], rows[1], rows[2], step, n, result);
      }
      record(is_deep ? "median_i16" : "median_u8", is_deep ? NUMBER_I16 : NUMBER_U8, result,
             n * step, EXACT);
    }
  }
}

static void windows(run *run) {
  const ptrdiff_t n = run->width, stride = n + 4 + 3;
  const float *rows[5];
  for (int k = 0; k < 5; k++) rows[k] = random_floats(run, 2 * stride + n + 4, 0, 1);
  float *out = OUT_FLOAT(n);
  CALL(run, sobel, rows, 2, n, .7f, out);
  record("sobel", NUMBER_FLOAT, out, n, WITHIN(1e-5));
  float *planes[3];
  for (int k = 0; k < 3; k++) planes[k] = OUT_FLOAT(n);
  CALL(
      run, denoise, rows, stride, 2, n, 4, .02f, random_float(run, 0, 2), planes[0], planes[1],
      planes[2]);
  record_planes("denoise", planes, 3, n, WITHIN(1e-5));
}

// --- rows/geometry
// --------------------------------------------------------------------------------

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
  if (covers) record(name, NUMBER_I16, positions->cover, count, ((tolerance){40, .1}));
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
    sl_radial_curve curve = {50, .02f, {.9f, .05f, .03f}, {.1f, .2f, .01f}};
    for (int flags = 0; flags < 4; flags++) {
      CALL(
          run, remap_radial_curve, &plane, &map, &curve, flags & 1, flags >> 1, 3, y, n,
          &positions);
      record_positions("remap_radial_curve", &plane, &positions, n, flags >> 1);
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
            take(run, (size_t)n * 4, 4), random_i16(run, n, 0, 32767), random_i16(run, n, 0, 32767),
            random_i16(run, n, 0, 32767)};
        for (ptrdiff_t i = 0; i < n; i++) {
          const int32_t x = single & 1 ? 0 : random_between(run, 0, (int32_t)columns - 2);
          const int32_t y = single & 2 ? 0 : random_between(run, 0, (int32_t)height - 2);
          positions.offset[i] = (uint32_t)(y * stride + x * step * size);
          if (i % 3 == 0) positions.cover[i] = 32767;
          if (i % 7 == 0) positions.cover[i] = 0;
        }
        const int16_t *nothing = random_i16(run, 4, 0, 8160);
        int16_t *out = OUT_I16(n * step);
        const int16_t *empty = single == 0 || single == 3 ? nothing : NULL;
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
  // Prefetching has no result; it must not fault.
  CALL(run, prefetch_row, sums, out, n * 2);
}

// --- rows/cells
// -----------------------------------------------------------------------------------

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

// --- rows/mattes
// ----------------------------------------------------------------------------------

static float *whole_floats(run *run, ptrdiff_t count, int32_t least, int32_t greatest) {
  float *numbers = take(run, (size_t)count * 4, 4);
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
    float *sums = take(run, (size_t)(13 * stride) * 4, 4);
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
      for (int channel = -1; channel < 3; channel++) {
        const sl_key_blend key = {channel, .7f, {20, 60, 30}};
        void *out = is_deep ? (void *)OUT_I16(n * step) : (void *)OUT_U8(n * step);
        if (is_deep) {
          CALL(run, blend_pixels_i16, in, step, alpha, backdrop, n, &key, step == 4, n, out);
        } else {
          CALL(run, blend_pixels_u8, in, step, alpha, backdrop, n, &key, step == 4, n, out);
        }
        record("blend_pixels", kind, out, n * step, ROUNDED);
      }
    }
    const sl_key_blend_yuv key = {
        {-.3f, -.9f}, {-1.8f, -.3f}, {.5f, -.3f, -.4f}, {60, 3, -3}, 16, 219, 112};
    float *excess = OUT_FLOAT(half), *mean = OUT_FLOAT(half);
    float *cb = OUT_FLOAT(2 * half), *cr = OUT_FLOAT(2 * half);
    const int first = run->next_region;
    for (ptrdiff_t step = 1; step <= 2; step++) {
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

#define CASE(NAME) {#NAME, NAME}
const test_case test_cases[] = {
    CASE(bgra_u8),  CASE(bgra_i16),  CASE(rgba_u8),         CASE(rgba_i16),   CASE(rgb_u8),
    CASE(rgb_i16),  CASE(gray_u8),   CASE(gray_i16),        CASE(yuv_u8),     CASE(yuv_i16),
    CASE(strips),   CASE(transfer),  CASE(interpolate_field), CASE(looks),    CASE(lookup_cube),
    CASE(composition), CASE(folded_pixels), CASE(folded_planes), CASE(chroma), CASE(convert),
    CASE(fields),   CASE(fir),       CASE(depth),           CASE(cells),      CASE(box),
    CASE(lines),    CASE(zoom),      CASE(sharpen),         CASE(convolve),   CASE(windows),
    CASE(resample), CASE(rotate),    CASE(remap_positions), CASE(remap_read), CASE(statistics),
    CASE(guided),   CASE(guides),    CASE(mattes),
};
const int test_case_count = sizeof test_cases / sizeof test_cases[0];
