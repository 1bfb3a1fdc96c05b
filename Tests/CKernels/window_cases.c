// Cases of rows: windows of neighbours (rows/windows).
#include "bench.h"

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
    for (int keeps = 0; keeps < 2; keeps++) {
      run->next_region = 0;
      const void *rows[26];
      for (ptrdiff_t k = 0; k < taps; k++) rows[k] = random_u8(run, 4 * n);
      int8_t *weights = allocate(run, (size_t)taps, 1);
      for (ptrdiff_t k = 0; k < taps; k++) {
        weights[k] = (int8_t)random_between(run, -120 / (int)taps, 120 / (int)taps);
      }
      const ptrdiff_t shift = random_between(run, 0, 5);
      const int16_t bias = (int16_t)random_between(run, -2000, 2000);
      const void *source = keeps ? random_u8(run, 4 * n) : NULL;
      uint8_t *bytes = OUT_U8(4 * n);
      CALL(run, convolve_bytes, rows, weights, taps, bias, shift, source, 4 * n, bytes);
      record("convolve_bytes", NUMBER_U8, bytes, 4 * n, EXACT);
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
  for (int sharpens = 0; sharpens < 2; sharpens++) {
    const float sharpness = sharpens ? random_float(run, 0, 2) : 0;
    CALL(
        run, denoise, rows, stride, 2, n, 4, .02f, sharpness, planes[0], planes[1], planes[2]);
    record_planes("denoise", planes, 3, n, WITHIN(1e-5));
  }
}

static const test_case cases[] = {
    CASE(convolve), CASE(windows),
};
const test_group window_cases = GROUP(cases);
