// Cases of rows: chains in normal form and conversions (rows/chains).
#include "bench.h"

// A chain whose numbers fit; `fraction` is 0 without fields.
static sl_chain random_chain(run *run, int32_t fraction, int32_t terms) {
  const int32_t shift = fraction > 0 ? 9 + fraction : random_between(run, 10, 14);
  sl_chain chain = {.shift = shift, .fraction = fraction, .term_count = terms};
  const int32_t one = 1 << shift, half = 1 << (shift - fraction - 1);
  for (int c = 0; c < 3; c++) {
    for (int k = 0; k < 3; k++) {
      chain.coefficients[c][k] = (int16_t)random_between(run, -one, one);
    }
    // With the half that rounding adds, a multiple of 128 of at most 15 bits more.
    chain.bias[c] = random_between(run, -50 * one, 50 * one) / 128 * 128 - half;
    for (int t = 0; t < SL_CHAIN_TERMS; t++) {
      chain.terms[t][c] = (int16_t)random_between(run, -600, 600);
    }
    chain.last[c] = (int16_t)random_between(run, -500, 500);
  }
  return chain;
}

static void random_fields(run *run, const int16_t **fields, int32_t number) {
  for (int k = 0; k < number; k++) fields[k] = random_i16(run, run->width, -20000, 20000);
}

static void folded_pixels(run *run) {
  const ptrdiff_t n = run->width;
  const uint8_t *in = random_u8(run, 4 * n);
  uint8_t *out = OUT_U8(4 * n);
  sl_chain chain = random_chain(run, 0, 0);
  CALL(run, folded_pixels, in, n, &chain, out);
  record("folded_pixels", NUMBER_U8, out, 4 * n, EXACT);
  uint8_t *in_place = copy_u8(run, in, 4 * n);
  CALL(run, folded_pixels, in_place, n, &chain, in_place);
  expect_equal("folded_pixels in place", out, in_place, 4 * n);
  for (int c = 0; c < 3; c++) {
    chain.coefficients[c][3] = (int16_t)random_between(run, -(1 << 13), 1 << 13);
  }
  CALL(run, folded_pixels_premultiplied, in, n, &chain, out);
  record("folded_pixels_premultiplied", NUMBER_U8, out, 4 * n, EXACT);
  in_place = copy_u8(run, in, 4 * n);
  CALL(run, folded_pixels_premultiplied, in_place, n, &chain, in_place);
  expect_equal("folded_pixels_premultiplied in place", out, in_place, 4 * n);
  for (int32_t fraction = 4; fraction <= 5; fraction++) {
    for (int32_t terms = 0; terms <= SL_CHAIN_TERMS; terms++) {
      const int16_t *fields[1 + SL_CHAIN_TERMS];
      random_fields(run, fields, 1 + terms);
      chain = random_chain(run, fraction, terms);
      CALL(run, folded_pixels_fields, in, n, &chain, fields, out);
      record("folded_pixels_fields", NUMBER_U8, out, 4 * n, EXACT);
      in_place = copy_u8(run, in, 4 * n);
      CALL(run, folded_pixels_fields, in_place, n, &chain, fields, in_place);
      expect_equal("folded_pixels_fields in place", out, in_place, 4 * n);
    }
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
    const int16_t *chroma = random_i16(run, (n + 1) / 2, -9000, 9000);
    const int16_t k = (int16_t)random_between(run, -16000, 16000);
    uint8_t *out = OUT_U8(n);
    CALL(run, folded_luma, in, chroma, k, n, &plane, terms < 0 ? NULL : fields, out);
    record("folded_luma", NUMBER_U8, out, n, EXACT);
    uint8_t *in_place = copy_u8(run, in, n);
    CALL(run, folded_luma, in_place, chroma, k, n, &plane, terms < 0 ? NULL : fields, in_place);
    expect_equal("folded_luma in place", out, in_place, n);
    int16_t *values = random_i16(run, n, -32768, 32767);
    CALL(run, folded_plane, values, n, &plane, terms < 0 ? NULL : fields);
    record("folded_plane", NUMBER_I16, values, n, EXACT);
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
  const int16_t *contributions[3];
  for (int k = 0; k < 3; k++) contributions[k] = random_i16(run, half + 1, -9000, 9000);
  uint8_t *pixels = OUT_U8(4 * n);
  const int16_t *weights = random_i16(run, 3, -20000, 20000);
  CALL(run, luma_to_pixels, luma, contributions, weights, n, pixels);
  record("luma_to_pixels", NUMBER_U8, pixels, 4 * n, EXACT);

  const int16_t *chroma_weights = random_i16(run, 6, -16000, 16000);
  const int16_t *offsets = random_i16(run, 3, -9000, 9000);
  for (ptrdiff_t step = 1; step <= 2; step++) {
    const uint8_t *u = random_u8(run, half * step), *v = step == 2 ? u + 1 : random_u8(run, half);
    int16_t *out[3];
    for (int k = 0; k < 3; k++) out[k] = OUT_I16(half);
    CALL(run, chroma_contributions, u, v, step, half, chroma_weights, offsets, out);
    for (int k = 0; k < 3; k++) record("chroma_contributions", NUMBER_I16, out[k], half, EXACT);
  }

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

static void to_yuv(run *run) {
  const ptrdiff_t n = run->width, half = (n + 1) / 2;
  const uint8_t *upper = random_u8(run, 4 * n), *lower = random_u8(run, 4 * n);
  sl_pixels_to_yuv k;
  for (int c = 0; c < 4; c++) {
    k.luma[c] = (int16_t)random_between(run, -32768, 32767);
    for (int row = 0; row < 2; row++) {
      k.chroma[row][c] = (int16_t)random_between(run, -16384, 16384);
    }
  }
  for (int row = 0; row < 3; row++) k.biases[row] = random_between(run, -9999999, 9999999);
  for (int pass = 0; pass < 4; pass++) {
    const ptrdiff_t step = 1 + pass % 2;
    // The last two with weights of chroma whose sum is 0, which have a separate loop.
    if (pass == 2) {
      for (int row = 0; row < 2; row++) {
        const int32_t sum = k.chroma[row][0] + k.chroma[row][2];
        k.chroma[row][1] = (int16_t)(-sum / 2);
        k.chroma[row][3] = (int16_t)(-sum - k.chroma[row][1]);
      }
    }
    uint8_t *lumas[2] = {OUT_U8(n), OUT_U8(n)}, *u = OUT_U8(half * step);
    uint8_t *v = step == 2 ? u + 1 : OUT_U8(half);
    CALL(run, pixels_to_yuv, upper, lower, &k, n, step, lumas[0], lumas[1], u, v);
    for (int row = 0; row < 2; row++) record("pixels_to_yuv", NUMBER_U8, lumas[row], n, EXACT);
    record("pixels_to_yuv", NUMBER_U8, u, half * step, EXACT);
    if (step == 1) record("pixels_to_yuv", NUMBER_U8, v, half, EXACT);
  }
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

static const test_case cases[] = {
    CASE(folded_pixels), CASE(folded_planes), CASE(chroma), CASE(convert), CASE(to_yuv),
    CASE(fields),
};
const test_group chain_cases = GROUP(cases);
