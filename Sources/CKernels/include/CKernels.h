// Pixel rows: what is done to runs of samples, compiled once per instruction set.
//
// Every function is total: any count >= 0, any alignment, no allocation, no state. Samples are
// either bytes ("u8", a level 0 ... 255) or "deep" ("i16", 1/32 level, so about +-1024 levels).
// Colours in floats are in units of 0 ... 1, unclamped. Destination and source may be the same
// row; they must not overlap otherwise.
#pragma once

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// Reads pixels into four planes of floats. Formats without alpha give alpha 1.
typedef void (*sl_load_pixels)(
    const void *source, ptrdiff_t count, float *red, float *green, float *blue, float *alpha);

/// Writes four planes of floats as pixels: clamped to what the sample holds, rounded to nearest.
typedef void (*sl_store_pixels)(
    const float *red, const float *green, const float *blue, const float *alpha, ptrdiff_t count,
    void *destination);

/// How YUV code values become RGB: c = luma_scale * (Y - luma_offset) + the chroma terms, where
/// chroma counts from 128; all in units of code values to 0 ... 1.
typedef struct sl_yuv_to_rgb {
  float luma_offset;
  float luma_scale;
  float red_v;
  float green_u;
  float green_v;
  float blue_u;
} sl_yuv_to_rgb;

/// How RGB in 0 ... 1 becomes YUV code values: dot products, plus the offset.
typedef struct sl_rgb_to_yuv {
  float luma[3];
  float u[3];
  float v[3];
  float luma_offset;
} sl_rgb_to_yuv;

/// Reads one row of luma with its chroma (each chroma sample serves two pixels) into planes of
/// floats. `step` is the distance of chroma samples: 1 for I420, 2 for NV12.
typedef void (*sl_load_yuv)(
    const void *luma, const void *u, const void *v, ptrdiff_t step, ptrdiff_t count,
    const sl_yuv_to_rgb *conversion, float *red, float *green, float *blue);

/// Writes the luma of one row.
typedef void (*sl_store_luma)(
    const float *red, const float *green, const float *blue, ptrdiff_t count,
    const sl_rgb_to_yuv *conversion, void *luma);

/// Writes the chroma of two rows: the mean of each 2x2 block; at an odd right edge, of the 1x2
/// that is there. `count` counts pixels.
typedef void (*sl_store_chroma)(
    const float *red0, const float *green0, const float *blue0, const float *red1,
    const float *green1, const float *blue1, ptrdiff_t count, const sl_rgb_to_yuv *conversion,
    ptrdiff_t step, void *u, void *v);

/// The rows of one instruction set.
typedef struct sl_rows {
  /// `portable`, `avx2` or `avx512`.
  const char *name;

  sl_load_pixels load_bgra_u8, load_bgra_i16, load_rgba_u8, load_rgba_i16;
  sl_load_pixels load_rgb_u8, load_rgb_i16, load_gray_u8, load_gray_i16;
  sl_store_pixels store_bgra_u8, store_bgra_i16, store_rgba_u8, store_rgba_i16;
  sl_store_pixels store_rgb_u8, store_rgb_i16, store_gray_u8, store_gray_i16;
  sl_load_yuv load_yuv_u8, load_yuv_i16;
  sl_store_luma store_luma_u8, store_luma_i16;
  sl_store_chroma store_chroma_u8, store_chroma_i16;

  /// Applies a colour matrix in place: 4 rows of (red, green, blue, alpha, bias). Alpha is written
  /// only if `with_alpha`.
  void (*matrix)(
      float *red, float *green, float *blue, float *alpha, ptrdiff_t count,
      const float coefficients[_Nonnull 20], int with_alpha);
  /// Multiplies the three colour planes by a row of numbers, in place.
  void (*scale)(
      float *red, float *green, float *blue, const float *factors, ptrdiff_t count);
  /// Multiplies colour by alpha, in place.
  void (*premultiply)(
      float *red, float *green, float *blue, const float *alpha, ptrdiff_t count);
  /// Divides colour by alpha, in place; black where alpha is 0.
  void (*unpremultiply)(
      float *red, float *green, float *blue, const float *alpha, ptrdiff_t count);
  /// destination = from + (destination - from) * amount.
  void (*mix)(float *destination, const float *from, ptrdiff_t count, float amount);
} sl_rows;

/// The best table that this machine can run, or the one that the environment variable
/// SIDELIGHT_ISA names (portable, avx2, avx512). Chosen once.
const sl_rows *sl_rows_current(void);

/// The table of that name; NULL if it is not compiled in or this machine cannot run it.
const sl_rows *_Nullable sl_rows_named(const char *name);

#pragma clang assume_nonnull end
