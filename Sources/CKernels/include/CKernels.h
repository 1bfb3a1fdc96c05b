// Pixel rows: what is done to runs of samples, compiled once per instruction set.
//
// No function allocates or keeps state. Counts are 1 or more, and samples lie as their type wants
// them aligned, no better; cells have at most 64 pixels (`factor`), knots of fields stand at most 32
// apart (`spacing`). Rows that work in place say so; no other destination may overlap a source.
// Samples are either bytes ("u8", a level 0 ... 255) or "deep" ("i16", 1/32 level, so about +-1024
// levels). Colours in floats are in units of 0 ... 1, unclamped.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "CKernelsArea.h"
#include "CKernelsLook.h"

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

/// The most terms between the first and the last that a chain in normal form may have.
#define SL_FOLD_TERMS 3

/// A chain of colour matrices and fields in normal form, for pixels of four samples:
/// G0 * (M * p + c0) + G1 * c1 + ... + last. Channels in the order in which they lie in memory; the
/// fourth sample is passed on.
typedef struct sl_fold {
  /// M: for each of three results, the weights of the four samples, in 1 / 2^shift.
  int16_t coefficients[3][4];
  /// c0 in 1 / 2^shift level.
  int32_t bias[3];
  /// 6 ... 14.
  int32_t shift;
  /// How many of `terms` there are.
  int32_t term_count;
  /// c1 ... in 1/32 level.
  int16_t terms[SL_FOLD_TERMS][3];
  /// In 1/16 level.
  int16_t last[3];
} sl_fold;

/// The terms of a chain in normal form for one plane of samples.
typedef struct sl_fold_plane {
  /// How many of `terms` there are.
  int32_t term_count;
  /// c1 ... in 1/32 level.
  int16_t terms[SL_FOLD_TERMS];
  /// In 1/16 level; in 1/32 where there is no field.
  int16_t last;
} sl_fold_plane;

/// How a strip is laid over or under another picture; s the strip's premultiplied colour, o the
/// other's, sa and oa their alphas.
typedef enum sl_composition {
  /// s + o (1 - sa): the strip in front.
  SL_COMPOSE_OVER,
  /// o + s (1 - oa): the other in front.
  SL_COMPOSE_UNDER,
  /// s o, alpha too.
  SL_COMPOSE_MULTIPLY,
  /// s + o - s o, alpha too.
  SL_COMPOSE_SCREEN,
} sl_composition;

/// A colour matrix: 4 rows of (red, green, blue, alpha, bias).
typedef struct sl_matrix {
  float rows[4][5];
} sl_matrix;

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

  /// Applies a colour matrix in place. Alpha is written only if `with_alpha`.
  void (*matrix)(
      float *red, float *green, float *blue, float *alpha, ptrdiff_t count,
      const sl_matrix *matrix, int with_alpha);
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
  /// |x|^exponent with the sign of x, in place.
  void (*power)(float *values, ptrdiff_t count, float exponent);
  /// The transfer functions of sRGB (IEC 61966-2-1), odd about 0, in place.
  void (*srgb_to_linear)(float *values, ptrdiff_t count);
  void (*linear_to_srgb)(float *values, ptrdiff_t count);
  /// Limits colour to alpha, in place: what premultiplied pixels must hold.
  void (*limit)(float *red, float *green, float *blue, const float *alpha, ptrdiff_t count);
  /// Interpolates a field between two rows of knots, `spacing` pixels apart (knot k stands
  /// at pixel k * spacing), for pixels from column `x`: first between the rows by `fraction`, then along them.
  void (*interpolate)(
      const float *upper, const float *lower, float fraction, ptrdiff_t spacing, ptrdiff_t x,
      ptrdiff_t count, float *out);

  /// Looks values up in `intervals` + 1 knots that stand evenly over 0 ... 1, in place; linear
  /// between them, constant beyond.
  void (*curve)(float *values, ptrdiff_t count, const float *table, ptrdiff_t intervals);
  /// values = the nearest of 0, 1/steps, 2/steps ... 1, in place. Half way goes up, and so does
  /// what is .0001 steps below it: a colour that was divided by its alpha is not exact.
  void (*posterize)(float *values, ptrdiff_t count, float steps);
  /// Moves colour away from its Rec. 709 luma by 1 + amount * (1 - s) * (1 - k), at least 0: s =
  /// clamp(max - min), and k = .75 * max(0, 1 - 2.5 * |(g - b) / (r - b) - .45|) where r >= g >= b,
  /// else 0, which holds skin back.
  void (*vibrance)(float *red, float *green, float *blue, ptrdiff_t count, float amount);
  /// Mixes colour with (1, .95, .8) by smoothstep(.5, 1, luma) * intensity.
  void (*glow)(float *red, float *green, float *blue, ptrdiff_t count, float intensity);
  /// A screen of dots: clamp(luma * (slope + 1) + (s - 1) * slope), s made of waves along u and v:
  /// 1 in the middle of a dot, 0 between four. `place`: the first pixel's u and v in
  /// periods, and what each pixel adds to them.
  void (*dots)(
      float *red, float *green, float *blue, ptrdiff_t count, const float place[_Nonnull 4],
      float slope);
  /// Looks colours up in a cube of size^3 entries of four numbers (red, green, blue, and one that is
  /// not used; red runs fastest, size >= 2)
  /// by tetrahedral interpolation. `domain`: the least red, green and blue, and 1 / (most - least).
  void (*cube)(
      float *red, float *green, float *blue, ptrdiff_t count, const float *table, ptrdiff_t size,
      const float domain[_Nonnull 6]);
  /// Combines straight colour in place with a premultiplied other. Where `opaque`, the result is
  /// left multiplied by its alpha: it stands before black.
  void (*composite)(
      float *red, float *green, float *blue, float *alpha, const float *other_red,
      const float *other_green, const float *other_blue, const float *other_alpha,
      ptrdiff_t count, sl_composition composition, int opaque);
  /// The same, between the other (mask 0) and the strip (mask 1).
  void (*blend_mask)(
      float *red, float *green, float *blue, float *alpha, const float *other_red,
      const float *other_green, const float *other_blue, const float *other_alpha,
      const float *mask, ptrdiff_t count, int opaque);

  /// sums = weight * row, or sums += weight * row, in 1/32 level.
  void (*weigh_u8)(const void *in, float weight, ptrdiff_t count, int adds, float *sums);
  void (*weigh_i16)(const void *in, float weight, ptrdiff_t count, int adds, float *sums);
  /// Pixel i of `out` = the sum of `taps` pixels from starts[i], with the weights from i * taps.
  /// `step` samples a pixel, 1 ... 4.
  void (*weigh_along)(
      const float *sums, ptrdiff_t step, const int32_t *starts, const float *weights,
      ptrdiff_t taps, ptrdiff_t pixels, int16_t *out);

  /// out = the weighted sum of 2 * radius + 1 rows of bytes, symmetric; weights in 1/32768, the
  /// centre's first; the result in 1/64 level.
  void (*fir_vertical_u8)(
      const void *_Nonnull const *_Nonnull rows, ptrdiff_t radius, const int16_t *weights,
      ptrdiff_t count, int16_t *out);
  /// The same of rows of 16-bit samples, in the samples' own unit; saturates.
  void (*fir_vertical_i16)(
      const void *_Nonnull const *_Nonnull rows, ptrdiff_t radius, const int16_t *weights,
      ptrdiff_t count, int16_t *out);
  /// The same along a row that is readable `radius * step` samples beyond both ends; `narrow` says
  /// that every sample lies in 0 ... 16383.
  void (*fir_horizontal)(
      const int16_t *in, ptrdiff_t step, ptrdiff_t radius, const int16_t *weights,
      ptrdiff_t count, int narrow, int16_t *out);
  /// Copies the outermost pixels `count` times beyond both ends of a row.
  void (*replicate_edges)(int16_t *row, ptrdiff_t step, ptrdiff_t pixels, ptrdiff_t count);
  /// Samples with `shift` fractional bits to bytes, rounded and clamped.
  void (*narrow_u8)(const int16_t *in, ptrdiff_t shift, ptrdiff_t count, void *out);
  /// Samples with `shift` fractional bits too many to deep samples, rounded.
  void (*narrow_i16)(const int16_t *in, ptrdiff_t shift, ptrdiff_t count, void *out);
  /// out = a + (b - a) * weight / 32768.
  void (*lerp_i16)(
      const int16_t *a, const int16_t *b, int16_t weight, ptrdiff_t count, int16_t *out);
  /// sums = the sum of rows; of bytes at most 64.
  void (*sum_rows_u8)(
      const void *_Nonnull const *_Nonnull rows, ptrdiff_t number, ptrdiff_t count,
      int32_t *sums);
  void (*sum_rows_i16)(
      const void *_Nonnull const *_Nonnull rows, ptrdiff_t number, ptrdiff_t count,
      int32_t *sums);
  /// Bytes of a + (b - a) * weight / 32768, which has `shift` fractional bits.
  void (*lerp_u8)(
      const int16_t *a, const int16_t *b, int16_t weight, ptrdiff_t shift, ptrdiff_t count,
      uint8_t *out);
  /// sums += row.
  void (*accumulate_u8)(const void *row, ptrdiff_t count, int32_t *sums);
  void (*accumulate_i16)(const void *row, ptrdiff_t count, int32_t *sums);
  /// Adds `factor` pixels each of a row of column sums and scales: one cell. The last pixel stands
  /// in for those beyond the row.
  void (*reduce_cells)(
      const int32_t *sums, ptrdiff_t step, ptrdiff_t pixels, ptrdiff_t factor, float scale,
      ptrdiff_t cells, int16_t *out);
  /// The mean of each block of a row of column sums: block k has the pixels edges[k] ..<
  /// edges[k + 1], whose sum is multiplied by `scale` and divided by their number. Every pixel of
  /// the block gets it.
  void (*mean_blocks)(
      const int32_t *sums, ptrdiff_t step, const ptrdiff_t *edges, ptrdiff_t blocks, float scale,
      int16_t *out);
  /// Interpolates between cells of `factor` pixels; one cell beyond each end must be readable.
  void (*expand_cells)(
      const int16_t *cells, ptrdiff_t step, ptrdiff_t pixels, ptrdiff_t factor, int16_t *out);
  /// Sets the fourth of every four samples to the source's.
  void (*copy_alpha_u8)(const void *source, ptrdiff_t pixels, void *destination);
  void (*copy_alpha_i16)(const void *source, ptrdiff_t pixels, void *destination);
  void (*copy_alpha_u8_i16)(const void *source, ptrdiff_t pixels, void *destination);
  void (*copy_alpha_i16_u8)(const void *source, ptrdiff_t pixels, void *destination);
  /// Bytes to deep samples.
  void (*widen)(const void *in, ptrdiff_t count, void *out);

  /// A chain without fields, on bytes.
  void (*folded_pixels)(
      const uint8_t *in, ptrdiff_t count, const sl_fold *fold, uint8_t *out);
  /// A chain with fields: rows of G0, G1 ... in 1/16384.
  void (*folded_pixels_fields)(
      const uint8_t *in, ptrdiff_t count, const sl_fold *fold,
      const int16_t *_Nonnull const *_Nonnull fields, uint8_t *out);
  /// A chain on luma or grey: k * in (k in 1/8192) plus a share for every two samples, in 1/32
  /// level, then fields and terms. `fields` may be NULL.
  void (*folded_luma)(
      const uint8_t *in, const int16_t *shares, int16_t k, ptrdiff_t count,
      const sl_fold_plane *plane, const int16_t *_Nonnull const *_Nullable fields, uint8_t *out);
  /// Chroma samples times 128, as rows of their own.
  void (*chroma_rows)(
      const uint8_t *u, const uint8_t *v, ptrdiff_t step, ptrdiff_t count, int16_t *us,
      int16_t *vs);
  /// Means of 2x2 samples times 128; `count` counts the samples of a row.
  void (*mean_luma)(
      const uint8_t *upper, const uint8_t *lower, ptrdiff_t count, int16_t *out);
  /// out = k[0] a + k[1] b + k[2] c + bias in 1/32 level; inputs times 128, k in 1/8192.
  void (*combine_planes)(
      const int16_t *a, const int16_t *b, const int16_t *c, const int16_t *k, int16_t bias,
      ptrdiff_t count, int16_t *out);
  /// Fields and terms of a chain on a row of 1/32 levels, rounded to levels. `fields` may be NULL.
  void (*finish_plane)(
      int16_t *values, ptrdiff_t count, const sl_fold_plane *plane,
      const int16_t *_Nonnull const *_Nullable fields);
  /// Levels to chroma samples, clamped.
  void (*store_chroma_rows)(
      const int16_t *us, const int16_t *vs, ptrdiff_t step, ptrdiff_t count, uint8_t *u,
      uint8_t *v);

  /// Pixels of four bytes from luma: channel c = k[c] * luma + shares[c] in 1/32 level, with a share
  /// for every two pixels (and one to spare); the fourth byte is 255. k in 1/8192.
  void (*luma_to_pixels)(
      const uint8_t *luma, const int16_t *_Nonnull const *_Nonnull shares, const int16_t *k,
      ptrdiff_t count, uint8_t *out);
  /// A byte from each pixel of four: (k * pixel + bias) / 8192, rounded down; so the bias has its
  /// half level.
  void (*pixels_to_luma)(
      const uint8_t *in, const int16_t *k, int32_t bias, ptrdiff_t count, uint8_t *out);
  /// Two levels from each 2x2 pixels of four bytes, at an odd right edge from 1x2: (ku * sum +
  /// biases[0]) / 32768 and the same with kv, rounded down, of the sums of four pixels.
  void (*pixels_to_chroma)(
      const uint8_t *upper, const uint8_t *lower, const int16_t *ku, const int16_t *kv,
      const int32_t *biases, ptrdiff_t count, int16_t *us, int16_t *vs);
  /// Colour times alpha, of pixels of four bytes; 0, and nothing is written, if every alpha is 255.
  int (*premultiply_pixels)(const uint8_t *in, ptrdiff_t count, uint8_t *out);
  /// Sets every fourth byte to 255.
  void (*seal_alpha)(uint8_t *pixels, ptrdiff_t count);
  /// Two rows of bytes as one of pairs, and back.
  void (*interleave)(
      const uint8_t *first, const uint8_t *second, ptrdiff_t count, uint8_t *out);
  void (*split)(const uint8_t *in, ptrdiff_t count, uint8_t *first, uint8_t *second);
  /// Pixels of three bytes with 255 as their fourth.
  void (*expand_pixels)(const uint8_t *in, ptrdiff_t count, uint8_t *out);
  /// Pixels of four bytes without their fourth.
  void (*contract_pixels)(const uint8_t *in, ptrdiff_t count, uint8_t *out);

  /// A field between two rows of knots in 1/16384, from the frame's left edge; stored, or
  /// multiplied onto what is there. Values must lie in -2 ..< 2.
  void (*field_row)(
      const float *upper, const float *lower, float fraction, ptrdiff_t spacing, ptrdiff_t count,
      int multiplies, int16_t *out);
  /// 1 - amount * noise / 256 in 1/16384 (amount too); stored, or multiplied onto what is there.
  void (*grain_row)(
      const uint8_t *noise, int16_t amount, ptrdiff_t count, int multiplies, int16_t *out);
  /// Means of 2x2 values of two rows of fields; `count` counts the values of a row.
  void (*mean_field)(
      const int16_t *upper, const int16_t *lower, ptrdiff_t count, int16_t *out);
} sl_rows;

/// The calling thread's table: the one it was told to use, or else the process's, which is the best
/// that this machine can run, or the one that the environment variable SIDELIGHT_ISA names (portable,
/// avx2, avx512), chosen once.
const sl_rows *sl_rows_current(void);

/// Has the calling thread use a table from now on; the process's if NULL. For tests, which compare
/// the instruction sets within one process.
void sl_rows_use(const sl_rows *_Nullable rows);

/// The table of that name; NULL if it is not compiled in or this machine cannot run it.
const sl_rows *_Nullable sl_rows_named(const char *name);

/// Tells the processor that the thread is waiting in a loop.
static inline void sl_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Lets other threads go before the running one: 0 is as before, 19 the most. Only on Linux.
void sl_set_thread_niceness(int niceness);

/// Names the running thread, for debuggers and `top`; 15 characters count.
void sl_name_thread(const char *name);

#pragma clang assume_nonnull end
