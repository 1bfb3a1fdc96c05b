// The table of pixel rows: operations on runs of samples, compiled once per instruction set.
//
// No function allocates or keeps state. Counts are 1 or more. Pointers need the alignment of their
// type only. A destination overlaps a source only in rows marked "in place".
//
// Samples are bytes ("u8", levels 0 ... 255) or deep ("i16", 1/32 level, about +-1024 levels). A
// "sum" is a 16-bit number in 1/64 level if it comes from bytes, in 1/32 level if it comes from
// deep samples. Colours in floats are in 0 ... 1, not clamped. A row is interleaved: the channels
// of a pixel are adjacent, and `step` is the number of samples from pixel to pixel, 1 ... 4.
//
// Rounding, unless stated otherwise:
// - "rounded" is to nearest, with halves away from zero;
// - x >> n, rounded, is (x + 2^(n-1)) >> n: halves up;
// - a (*) w is the product of a number and a fraction in 1/32768: (a * w + 2^14) >> 15;
// - 16-bit additions saturate.
//
// Every instruction set gives the same bytes, except that rows of floats differ in the last bits
// (multiplications and additions may be fused), and that the rows marked "halves" round halves
// differently from set to set.
#pragma once

#include "CKernelsTypes.h"

#pragma clang assume_nonnull begin

/// Reads pixels into four planes of floats: sample / 255, or deep sample / (255 * 32). Formats
/// without alpha give alpha 1; gray gives three equal colours.
typedef void (*sl_load_pixels)(
    const void *source, ptrdiff_t count, float *red, float *green, float *blue, float *alpha);

/// Writes four planes of floats as pixels: colour * 255, clamped to the range of the sample and
/// rounded. Gray is the Rec. 709 luma .2126 R + .7152 G + .0722 B. NaN becomes 0 in bytes.
typedef void (*sl_store_pixels)(
    const float *red, const float *green, const float *blue, const float *alpha, ptrdiff_t count,
    void *destination);

/// Converts a row of luma and its chroma to planes of floats by using `conversion`. A chroma sample
/// belongs to two pixels. `step` is the distance of chroma samples: 1 for I420, 2 for NV12.
typedef void (*sl_load_yuv)(
    const void *luma, const void *u, const void *v, ptrdiff_t step, ptrdiff_t count,
    const sl_yuv_to_rgb *conversion, float *red, float *green, float *blue);

/// Writes the luma of a row by `conversion`, clamped and rounded.
typedef void (*sl_store_luma)(
    const float *red, const float *green, const float *blue, ptrdiff_t count,
    const sl_rgb_to_yuv *conversion, void *luma);

/// Writes the chroma of two rows by using `conversion`, clamped and rounded: the mean of every 2x2
/// block, or of a 1x2 block at an odd right edge. `count` counts pixels.
typedef void (*sl_store_chroma)(
    const float *red0, const float *green0, const float *blue0, const float *red1,
    const float *green1, const float *blue1, ptrdiff_t count, const sl_rgb_to_yuv *conversion,
    ptrdiff_t step, void *u, void *v);

/// The sum of values in units of 2^-20, and their extremes.
typedef struct sl_statistics {
  double units;
  float low, high;
} sl_statistics;

/// A share of the picture that depends on its Rec. 709 luma Y: smoothstep(clamp((Y - low) *
/// scale)), or 1 minus it if `inverted`.
typedef struct sl_luma_key {
  float low;
  float scale;
  int32_t inverted;
  /// The premultiplied colour behind the other picture.
  float color[4];
} sl_luma_key;

/// Counts of pixels beyond the range of colours.
typedef struct sl_clipped {
  /// Pixels with a channel at or below 0.
  uint64_t low;
  /// Pixels with a channel at or above 1.
  uint64_t high;
} sl_clipped;

/// The rows of one instruction set.
typedef struct sl_rows {
  /// `portable`, `avx2` or `avx512`.
  const char *name;

  // --- Pixels as planes of floats (rows/color) ---

  sl_load_pixels load_bgra_u8, load_bgra_i16, load_rgba_u8, load_rgba_i16;
  sl_load_pixels load_rgb_u8, load_rgb_i16, load_gray_u8, load_gray_i16;
  sl_store_pixels store_bgra_u8, store_bgra_i16, store_rgba_u8, store_rgba_i16;
  sl_store_pixels store_rgb_u8, store_rgb_i16, store_gray_u8, store_gray_i16;
  /// Reads pixels of four bytes through functions per channel, by using a table of 256 entries of
  /// four floats for every one of the first three bytes. An entry has the function's number at its
  /// channel's index (red, green, blue), and 0 elsewhere. The fourth byte is alpha, / 255.
  void (*load_curves_u8)(
      const void *source, ptrdiff_t count, const float *_Nonnull const *_Nonnull tables,
      float *red, float *green, float *blue, float *alpha);
  /// Replaces the first three bytes of four-byte pixels by using a table per byte; the fourth is
  /// copied. May work in place.
  void (*look_up_pixels)(
      const uint8_t *in, ptrdiff_t count, const sl_byte_tables *tables, uint8_t *out);
  sl_load_yuv load_yuv_u8, load_yuv_i16;
  sl_store_luma store_luma_u8, store_luma_i16;
  sl_store_chroma store_chroma_u8, store_chroma_i16;

  /// Applies a colour matrix in place: c' = row . (r, g, b, a, 1). Alpha is written only if
  /// `with_alpha`.
  void (*color_matrix)(
      float *red, float *green, float *blue, float *alpha, ptrdiff_t count,
      const sl_matrix *matrix, int with_alpha);
  /// Multiplies the three colour planes by `factors`, pixel by pixel, in place.
  void (*multiply)(
      float *red, float *green, float *blue, const float *factors, ptrdiff_t count);
  /// Multiplies colour by alpha, in place.
  void (*premultiply)(
      float *red, float *green, float *blue, const float *alpha, ptrdiff_t count);
  /// Multiplies colour by 1 / alpha, in place; 0 where alpha is 0 or less.
  void (*unpremultiply)(
      float *red, float *green, float *blue, const float *alpha, ptrdiff_t count);
  /// destination = from + (destination - from) * amount, in place.
  void (*mix)(float *destination, const float *from, ptrdiff_t count, float amount);
  /// |x|^exponent with the sign of x, in place; 0 for |x| <= 1e-30. As 2^(exponent * log2 |x|):
  /// log2 to 4e-6, 2^x to 3e-7 of its value and clamped to x in -126 ... 127.
  void (*power)(float *values, ptrdiff_t count, float exponent);
  /// The transfer functions of sRGB (IEC 61966-2-1), odd about 0, in place: to linear, x / 12.92 up
  /// to .04045, else ((x + .055) / 1.055)^2.4; to sRGB, 12.92 x up to .0031308, else 1.055 x^(1 /
  /// 2.4) - .055.
  void (*srgb_to_linear)(float *values, ptrdiff_t count);
  void (*linear_to_srgb)(float *values, ptrdiff_t count);
  /// colour = min(colour, alpha), in place: the invariant of premultiplied pixels.
  void (*limit_to_alpha)(
      float *red, float *green, float *blue, const float *alpha, ptrdiff_t count);
  /// Interpolates a field between knots that are `spacing` pixels apart (knot k at pixel k *
  /// spacing) for pixels from column `x`: between two rows of knots by `fraction`, then linearly
  /// along them. Reads the knots (x / spacing) ... ((x + count - 1) / spacing + 1).
  void (*interpolate_field)(
      const float *upper, const float *lower, float fraction, ptrdiff_t spacing, ptrdiff_t x,
      ptrdiff_t count, float *out);

  /// Looks values up in `intervals` + 1 knots at even distances over 0 ... 1, in place: linear
  /// between knots, constant beyond them.
  void (*lookup_curve)(float *values, ptrdiff_t count, const float *table, ptrdiff_t intervals);
  /// value = floor(clamp(value, 0, 1) * steps + .5001) / steps, in place. The .0001 absorbs the
  /// inexactness of colours that were divided by their alpha.
  void (*posterize)(float *values, ptrdiff_t count, float steps);
  /// Moves colour away from its Rec. 709 luma by the factor max(0, 1 + amount * (1 - s) * (1 - k)),
  /// in place: s = clamp(max - min, 0, 1); k = .75 * max(0, 1 - 2.5 * |(g - b) / (r - b) - .45|)
  /// where r >= g >= b, else 0, which protects skin (r - b is at least 1e-6).
  void (*vibrance)(float *red, float *green, float *blue, ptrdiff_t count, float amount);
  /// Adds a shift that depends on luma, in place: k[0] + k[1] y + k[2] y^2 per channel, y the
  /// clamped Rec. 709 luma. `coefficients` has k of red, green and blue.
  void (*add_by_luma)(
      float *red, float *green, float *blue, ptrdiff_t count,
      const float coefficients[_Nonnull 9]);
  /// Adds colours to counts of `bins` intervals of 0 ... 1: counts of red, then of green, blue and
  /// Rec. 709 luma. Values outside count in the first or the last interval. Adds clipped pixels to
  /// `clipped`.
  void (*count_colors)(
      const float *red, const float *green, const float *blue, ptrdiff_t count, ptrdiff_t bins,
      uint32_t *counts, sl_clipped *clipped);
  /// Adds values to `found`. For the sum they are limited to -1024 ... 1024 and rounded to units, so
  /// it is the same in every order; NaN counts as -1024, and is no extreme.
  void (*measure)(const float *values, ptrdiff_t count, sl_statistics *found);
  /// Mixes colour with (1, .95, .8) by smoothstep(.5, 1, luma) * intensity, in place.
  void (*glow)(float *red, float *green, float *blue, ptrdiff_t count, float intensity);
  /// The same on four-byte pixels. `red` (0 or 2) is the index of red. Gives the results of reading
  /// them to floats, `glow`, and writing them. May work in place.
  void (*glow_pixels)(
      const uint8_t *in, ptrdiff_t count, ptrdiff_t red, float intensity, uint8_t *out);
  /// A screen of dots, in place: clamp(luma * (slope + 1) + (s - 1) * slope, 0, 1) in all channels;
  /// s = .5 + .25 * (wave(u) + wave(v)), where wave has period 1, is 1 at whole numbers and -1
  /// between them: 1 + d^2 (32 d - 24), d the distance to the nearest whole number. `position`: u
  /// and v of the first pixel, in periods, and their change per pixel.
  void (*dot_screen)(
      float *red, float *green, float *blue, ptrdiff_t count, const float position[_Nonnull 4],
      float slope);
  /// Looks colours up in a cube of size^3 entries of four numbers (red, green, blue, unused; red
  /// varies fastest, size >= 2) by using tetrahedral interpolation, in place; clamped to the cube.
  /// `domain`: the minimum of red, green and blue, and 1 / (maximum - minimum) per channel.
  void (*lookup_cube)(
      float *red, float *green, float *blue, ptrdiff_t count, const float *table, ptrdiff_t size,
      const float domain[_Nonnull 6]);
  /// Mixes straight colour in place with a premultiplied other, which is laid over a colour, by
  /// using a share that depends on the pixel's luma (0 where alpha is 0), and divides by the
  /// resulting alpha (black where it is 0). If `opaque` it does not divide.
  void (*luma_key)(
      float *red, float *green, float *blue, float *alpha, const float *other_red,
      const float *other_green, const float *other_blue, const float *other_alpha,
      ptrdiff_t count, sl_luma_key key, int opaque);
  /// Combines straight colour in place with a premultiplied other by using `composition`, and
  /// divides by the resulting alpha (black where it is 0 or less). If `opaque` it does not divide:
  /// the result is on black.
  void (*composite)(
      float *red, float *green, float *blue, float *alpha, const float *other_red,
      const float *other_green, const float *other_blue, const float *other_alpha,
      ptrdiff_t count, sl_composition composition, int opaque);
  /// The same with other + (strip - other) * mask, for premultiplied colour and alpha.
  void (*blend_with_mask)(
      float *red, float *green, float *blue, float *alpha, const float *other_red,
      const float *other_green, const float *other_blue, const float *other_alpha,
      const float *mask, ptrdiff_t count, int opaque);

  // --- Transitions between pictures of bytes, in place (rows/color) ---

  /// out = (from * (256 - weight) + out * weight) / 256, rounded; weights are 0 ... 256.
  void (*mix_evenly_u8)(const uint8_t *from, uint16_t weight, ptrdiff_t count, uint8_t *out);
  /// The same with a weight per sample.
  void (*mix_weighted_u8)(
      const uint8_t *from, const uint16_t *weights, ptrdiff_t count, uint8_t *out);
  /// The same for pixels of four samples, with straight alpha last: colours count by alpha times
  /// weight. The weights of a pixel are equal. `count` counts pixels.
  void (*mix_straight_u8)(
      const uint8_t *from, const uint16_t *weights, ptrdiff_t count, uint8_t *out);
  /// Weights of a row of cells, repeated for `repeat` samples: the edge's weight at a hash of `row`
  /// and the cell's number. `count` counts samples.
  void (*dissolve_weights)(
      uint32_t row, const sl_soft_edge *edge, ptrdiff_t repeat, ptrdiff_t count, uint16_t *out);

  // --- Chains in normal form, on bytes (rows/chains) ---

  /// A chain without fields: channel c = (M[c] . p + c0[c]) >> shift, rounded and clamped. Works in
  /// place: `out` may be `in`.
  void (*folded_pixels)(
      const uint8_t *in, ptrdiff_t count, const sl_chain *chain, uint8_t *out);
  /// The same for colour that is premultiplied by the fourth byte, with the weight c0. Ignores the
  /// bias and limits results to the fourth byte.
  void (*folded_pixels_premultiplied)(
      const uint8_t *in, ptrdiff_t count, const sl_chain *chain, uint8_t *out);
  /// A chain with fields, rows of G0, G1 ... in 1/16384: M * p + c0 is rounded to 1 / 2^fraction
  /// level, (*) with a field it is in units of twice that; the sum with the terms is rounded and
  /// clamped. Works in place: `out` may be `in`.
  void (*folded_pixels_fields)(
      const uint8_t *in, ptrdiff_t count, const sl_chain *chain,
      const int16_t *_Nonnull const *_Nonnull fields, uint8_t *out);
  /// A chain on luma or gray: k * in (k in 1/8192) plus `chroma`, the contribution of chroma to
  /// every two samples, in 1/32 level, then fields and terms as above, rounded and clamped. If
  /// `fields` is NULL it adds only `last`. Works in place: `out` may be `in`.
  void (*folded_luma)(
      const uint8_t *in, const int16_t *chroma, int16_t k, ptrdiff_t count,
      const sl_chain_plane *plane, const int16_t *_Nonnull const *_Nullable fields, uint8_t *out);
  /// Chroma samples times 128, as two rows. `step` is 1 for two planes, 2 for one of pairs at `u`.
  void (*load_chroma_rows)(
      const uint8_t *u, const uint8_t *v, ptrdiff_t step, ptrdiff_t count, int16_t *us,
      int16_t *vs);
  /// Means of 2x2 samples times 128, exact; of 1x2 at an odd right edge. `count` counts the samples
  /// of a row.
  void (*mean_luma)(
      const uint8_t *upper, const uint8_t *lower, ptrdiff_t count, int16_t *out);
  /// out = bias + k[0] (*) a + k[1] (*) b + k[2] (*) c in 1/32 level; inputs times 128, k in
  /// 1/8192. `a` is not read if k[0] is 0.
  void (*combine_planes)(
      const int16_t *a, const int16_t *b, const int16_t *c, const int16_t *k, int16_t bias,
      ptrdiff_t count, int16_t *out);
  /// Applies fields and terms of a chain to a row of 1/32 levels in place, rounded to levels and
  /// not clamped. If `fields` is NULL it adds only `last`.
  void (*folded_plane)(
      int16_t *values, ptrdiff_t count, const sl_chain_plane *plane,
      const int16_t *_Nonnull const *_Nullable fields);
  /// Levels to chroma samples, clamped. `step` as in load_chroma_rows.
  void (*store_chroma_rows)(
      const int16_t *us, const int16_t *vs, ptrdiff_t step, ptrdiff_t count, uint8_t *u,
      uint8_t *v);

  /// The contributions of a row of chroma to three channels, in 1/32 level: out[c] = biases[c] +
  /// k[2c] (*) 128 u + k[2c + 1] (*) 128 v, k in 1/8192. `step` as in load_chroma_rows.
  void (*chroma_contributions)(
      const uint8_t *u, const uint8_t *v, ptrdiff_t step, ptrdiff_t count, const int16_t *k,
      const int16_t *biases, int16_t *_Nonnull const *_Nonnull out);
  /// Pixels of four bytes from luma: channel c = (luma * 128 (*) k[c] + chroma[c]) >> 5, rounded
  /// and clamped; the fourth byte is 255. k in 1/8192. `chroma`: the contribution of chroma to
  /// every two pixels, per channel, in 1/32 level. No sum may exceed 16 bits.
  void (*luma_to_pixels)(
      const uint8_t *luma, const int16_t *_Nonnull const *_Nonnull chroma, const int16_t *k,
      ptrdiff_t count, uint8_t *out);
  /// Luma and chroma of two rows of four-byte pixels by using `k`; chroma of the sum of 2x2 pixels,
  /// at an odd right edge of the last column twice. The rows may be the same. `step` as in
  /// load_chroma_rows, with `v` = `u` + 1 if it is 2.
  void (*pixels_to_yuv)(
      const uint8_t *upper, const uint8_t *lower, const sl_pixels_to_yuv *k, ptrdiff_t count,
      ptrdiff_t step, uint8_t *upper_luma, uint8_t *lower_luma, uint8_t *u, uint8_t *v);
  /// A byte per pixel of four bytes: (k . pixel + bias) >> 13, rounded down and clamped. The caller
  /// adds the half level to the bias.
  void (*pixels_to_luma)(
      const uint8_t *in, const int16_t *k, int32_t bias, ptrdiff_t count, uint8_t *out);
  /// Two levels per 2x2 pixels of four bytes: (ku. sum + biases[0]) >> 15 and the same with kv and
  /// biases[1], rounded down and saturated, of the sums of four pixels. At an odd right edge the
  /// last pixel counts twice.
  void (*pixels_to_chroma)(
      const uint8_t *upper, const uint8_t *lower, const int16_t *ku, const int16_t *kv,
      const int32_t *biases, ptrdiff_t count, int16_t *us, int16_t *vs);
  /// Colour * alpha / 255, rounded, of pixels of four bytes. Returns 0 without writing if every
  /// alpha is 255.
  int (*premultiply_pixels)(const uint8_t *in, ptrdiff_t count, uint8_t *out);
  /// Sets every fourth byte to 255, in place.
  void (*set_opaque)(uint8_t *pixels, ptrdiff_t count);
  /// Converts two rows of bytes to one row of pairs, and back.
  void (*interleave)(
      const uint8_t *first, const uint8_t *second, ptrdiff_t count, uint8_t *out);
  void (*deinterleave)(const uint8_t *in, ptrdiff_t count, uint8_t *first, uint8_t *second);
  /// Converts pixels of three bytes to four, with 255 as the fourth.
  void (*rgb_to_rgba)(const uint8_t *in, ptrdiff_t count, uint8_t *out);
  /// Converts pixels of four bytes to three, without the fourth.
  void (*rgba_to_rgb)(const uint8_t *in, ptrdiff_t count, uint8_t *out);

  /// A field between two rows of knots, `spacing` pixels apart (1 ... 32), from the frame's left
  /// edge, in 1/16384; stored, or (*) onto `out` and doubled. Values are in -2 ..< 2. Between knots
  /// the slope is a fixed-point number of 1/32, or a float if it does not fit 16 bits.
  void (*field_row)(
      const float *upper, const float *lower, float fraction, ptrdiff_t spacing, ptrdiff_t count,
      int multiplies, int16_t *out);
  /// 1 - amount * noise / 256 in 1/16384 (amount too); stored, or (*) onto `out` and doubled.
  void (*grain_row)(
      const uint8_t *noise, int16_t amount, ptrdiff_t count, int multiplies, int16_t *out);
  /// Means of 2x2 values of two rows of fields, halves up; of 1x2 at an odd right edge. `count`
  /// counts the values of a row.
  void (*mean_field)(
      const int16_t *upper, const int16_t *lower, ptrdiff_t count, int16_t *out);

  // --- Gaussian blurs, means over cells, changes of depth (rows/blur/pyramid.inc) ---

  /// out = sum of weights[k] (*) (rows[radius - k] + rows[radius + k]) in 1/64 level, of 2 * radius
  /// + 1 rows of bytes; weights in 1/32768, the centre's first. Products are rounded; additions
  /// wrap.
  void (*fir_vertical_u8)(
      const void *_Nonnull const *_Nonnull rows, ptrdiff_t radius, const int16_t *weights,
      ptrdiff_t count, int16_t *out);
  /// The same for rows of 16-bit samples, in their unit; multiplies every row separately and
  /// saturates.
  void (*fir_vertical_i16)(
      const void *_Nonnull const *_Nonnull rows, ptrdiff_t radius, const int16_t *weights,
      ptrdiff_t count, int16_t *out);
  /// The same along a row that is readable `radius * step` samples beyond both ends. If `narrow`,
  /// every sample is in 0 ... 16383, and pairs are added before they are multiplied.
  void (*fir_horizontal)(
      const int16_t *in, ptrdiff_t step, ptrdiff_t radius, const int16_t *weights,
      ptrdiff_t count, int narrow, int16_t *out);
  /// Copies the first and the last pixel of a row `count` times beyond its ends, in place: the edge
  /// rule of clamping.
  void (*replicate_edges)(int16_t *row, ptrdiff_t step, ptrdiff_t pixels, ptrdiff_t count);
  /// Samples with `shift` fractional bits (0 ... 7) to bytes: in >> shift, rounded and clamped.
  void (*narrow_u8)(const int16_t *in, ptrdiff_t shift, ptrdiff_t count, void *out);
  /// Samples with `shift` fractional bits too many to deep samples: in >> shift, rounded.
  void (*narrow_i16)(const int16_t *in, ptrdiff_t shift, ptrdiff_t count, void *out);
  /// out = a + (b - a) (*) weight.
  void (*lerp_i16)(
      const int16_t *a, const int16_t *b, int16_t weight, ptrdiff_t count, int16_t *out);
  /// The same, which has `shift` fractional bits (1 ... 7), as bytes: >> shift, rounded and
  /// clamped.
  void (*lerp_u8)(
      const int16_t *a, const int16_t *b, int16_t weight, ptrdiff_t shift, ptrdiff_t count,
      uint8_t *out);
  /// The same for pixels of four channels, with the fourth byte of `source`.
  void (*lerp_colors)(
      const int16_t *a, const int16_t *b, int16_t weight, ptrdiff_t shift, const void *source,
      ptrdiff_t pixels, void *out);
  /// sums = the sum of `number` rows; at most 64 of bytes.
  void (*sum_rows_u8)(
      const void *_Nonnull const *_Nonnull rows, ptrdiff_t number, ptrdiff_t count,
      int32_t *sums);
  void (*sum_rows_i16)(
      const void *_Nonnull const *_Nonnull rows, ptrdiff_t number, ptrdiff_t count,
      int32_t *sums);
  /// sums = sums + row, in place.
  void (*accumulate_u8)(const void *row, ptrdiff_t count, int32_t *sums);
  void (*accumulate_i16)(const void *row, ptrdiff_t count, int32_t *sums);
  /// The sum of every cell of `factor` pixels (at most 64) of a row of column sums, times `scale`,
  /// rounded. Repeats the last pixel beyond the row's end.
  void (*downsample_cells)(
      const int32_t *sums, ptrdiff_t step, ptrdiff_t pixels, ptrdiff_t factor, float scale,
      ptrdiff_t cells, int16_t *out);
  /// Linear interpolation between cells of `factor` pixels (at most 64, even): pixel x is at
  /// (x + 1/2) / factor - 1/2 cells; a + (b - a) (*) weight. Reads one cell beyond each end.
  void (*upsample_cells)(
      const int16_t *cells, ptrdiff_t step, ptrdiff_t pixels, ptrdiff_t factor, int16_t *out);
  /// The mean of every block of a row of column sums, in all pixels of the block: block k has the
  /// pixels edges[k] ..< edges[k + 1]; sum * scale / their number, rounded.
  void (*mean_blocks)(
      const int32_t *sums, ptrdiff_t step, const ptrdiff_t *edges, ptrdiff_t blocks, float scale,
      int16_t *out);
  /// Sets the fourth of every four samples to the source's, in place; >> 5, rounded and clamped,
  /// from deep to bytes.
  void (*copy_alpha_u8)(const void *source, ptrdiff_t pixels, void *destination);
  void (*copy_alpha_i16)(const void *source, ptrdiff_t pixels, void *destination);
  void (*copy_alpha_u8_i16)(const void *source, ptrdiff_t pixels, void *destination);
  void (*copy_alpha_i16_u8)(const void *source, ptrdiff_t pixels, void *destination);
  /// Bytes to deep samples.
  void (*widen)(const void *in, ptrdiff_t count, void *out);

  // --- Box, line and zoom blurs, sharpening (rows/blur) ---

  /// sums = sums + entering - leaving, in place: slides a window of rows down by one.
  void (*slide_sums_u8)(const void *entering, const void *leaving, ptrdiff_t count, int32_t *sums);
  void (*slide_sums_i16)(const void *entering, const void *leaving, ptrdiff_t count, int32_t *sums);
  /// out = (sums + fraction * (above + below)) * scale, rounded and saturated.
  void (*box_vertical_u8)(
      const int32_t *sums, const void *above, const void *below, float fraction, float scale,
      ptrdiff_t count, int16_t *out);
  void (*box_vertical_i16)(
      const int32_t *sums, const void *above, const void *below, float fraction, float scale,
      ptrdiff_t count, int16_t *out);
  /// The mean of 2 * radius + 1 pixels along a row and of `fraction` of the two next to them,
  /// rounded (halves). The row is readable radius + 1 pixels beyond both ends.
  void (*box_horizontal)(
      const int16_t *in, ptrdiff_t step, ptrdiff_t pixels, ptrdiff_t radius, float fraction,
      int16_t *out);
  /// For boxes of bytes whose sums fit 16 bits (at most 257 samples): slides `sums` down by one
  /// row, in place, and writes the means by using `scale`, rounded to bytes or to `bits` bits below
  /// a level.
  void (*box_vertical_narrow_u8)(
      const sl_box_rows *rows, const sl_box_scale *scale, ptrdiff_t count, uint16_t *sums,
      uint8_t *out);
  void (*box_vertical_narrow_u16)(
      const sl_box_rows *rows, const sl_box_scale *scale, ptrdiff_t count, uint16_t *sums,
      uint16_t *out);
  /// The same along a row of such means, readable radius + 1 pixels beyond both ends; gives bytes.
  void (*box_horizontal_narrow)(
      const uint16_t *in, ptrdiff_t step, ptrdiff_t pixels, ptrdiff_t radius,
      const sl_box_scale *scale, void *out);
  /// Bytes to 16 bits, unchanged.
  void (*widen_u16)(const void *in, ptrdiff_t count, uint16_t *out);

  /// out = scale * the sum of the taps, as sums, rounded (halves) and saturated. Fine: a weight is
  /// at most 4096, and their sum at most 65536. Coarse: the weights of a tap sum to at most 256 /
  /// group, to keep the products of `group` taps within 16 bits.
  void (*line_mean_coarse_u8)(
      const sl_line_tap *taps, ptrdiff_t tap_count, ptrdiff_t group, float scale, ptrdiff_t count,
      int16_t *out);
  void (*line_mean_fine_u8)(
      const sl_line_tap *taps, ptrdiff_t tap_count, float scale, ptrdiff_t count, int16_t *out);
  void (*line_mean_fine_i16)(
      const sl_line_tap *taps, ptrdiff_t tap_count, float scale, ptrdiff_t count, int16_t *out);

  /// Computes the positions along rays to `center`, for rows of more than `zoom_block` pixels: tap
  /// k of pixel x is at center + (x - center) * scales[k] (-1 ... 1), clamped to the row. The
  /// rounding error of a weight is added to the weight of the pixel's next tap.
  void (*zoom_blur_positions)(
      const float *scales, ptrdiff_t tap_count, float center, ptrdiff_t pixels,
      sl_zoom_positions positions);
  /// The mean of all taps, bilinear, as sums, rounded and saturated. With `positions`, for 8 taps
  /// of pixels of four channels, it is faster and rounds more often: the portable rows ignore them.
  void (*zoom_blur_u8)(
      const sl_zoom_tap *taps, ptrdiff_t tap_count, ptrdiff_t step, ptrdiff_t pixels,
      const sl_zoom_positions *_Nullable positions, int16_t *out);
  void (*zoom_blur_i16)(
      const sl_zoom_tap *taps, ptrdiff_t tap_count, ptrdiff_t step, ptrdiff_t pixels,
      int16_t *out);
  /// The number of pixels of a block of sl_zoom_positions; 0 if zoom_blur_u8 does not use them.
  ptrdiff_t zoom_block;

  /// fir_vertical and fir_horizontal with exact sums in 32 bits, rounded once (halves up) and
  /// saturated: for filters that magnify the difference from the picture. `narrow`: the sum of two
  /// numbers fits 16 bits.
  void (*fir_vertical_exact_u8)(
      const void *_Nonnull const *_Nonnull rows, ptrdiff_t radius, const int16_t *weights,
      ptrdiff_t count, int16_t *out);
  void (*fir_vertical_exact_i16)(
      const void *_Nonnull const *_Nonnull rows, ptrdiff_t radius, const int16_t *weights,
      ptrdiff_t count, int16_t *out);
  void (*fir_horizontal_exact)(
      const int16_t *in, ptrdiff_t step, ptrdiff_t radius, const int16_t *weights,
      ptrdiff_t count, int narrow, int16_t *out);
  /// out = own * samples / 2^14 + the sum of weights[|k|] * in[k * step] / 2^15 over k = -radius
  /// ... radius, in deep samples, rounded once (halves up) and saturated: bytes mixed with their
  /// blur; `in` is the blur's vertical part in 1/64 level. own is at least 0.
  void (*sharpen_horizontal_u8)(
      const void *samples, const int16_t *in, ptrdiff_t step, ptrdiff_t radius, int16_t own,
      const int16_t *weights, ptrdiff_t count, int16_t *out);
  /// out = in + up * max(0, d) + down * min(0, d), d = blurred * unit - in; deep, rounded and
  /// saturated. `unit` is the unit of `blurred` in levels.
  void (*mix_blurred_u8)(
      const void *in, const int16_t *blurred, float unit, float up, float down, ptrdiff_t count,
      int16_t *out);
  void (*mix_blurred_i16)(
      const void *in, const int16_t *blurred, float unit, float up, float down, ptrdiff_t count,
      int16_t *out);
  /// Mixes a row of chroma with its blur in the same proportion as the luma of its pixels:
  /// out = in + (blurred - in) * g * min(|d| / ramp, 1), d the mean difference of blurred luma and
  /// luma over 2x2 pixels in levels, g = up if d > 0, else down; deep, rounded and saturated. At an
  /// odd right edge the last column counts twice. Blurred rows are deep; `width` counts pixels of
  /// luma.
  void (*mix_blurred_chroma_u8)(
      const void *upper, const void *lower, const int16_t *blurred_upper,
      const int16_t *blurred_lower, ptrdiff_t width, const void *in, const int16_t *blurred,
      ptrdiff_t step, float up, float down, float ramp, int16_t *out);
  void (*mix_blurred_chroma_i16)(
      const void *upper, const void *lower, const int16_t *blurred_upper,
      const int16_t *blurred_lower, ptrdiff_t width, const void *in, const int16_t *blurred,
      ptrdiff_t step, float up, float down, float ramp, int16_t *out);
  /// Luma of pixels of three or four channels by using three weights in 1/32768, as sums, halves
  /// up.
  void (*luma_u8)(
      const void *in, ptrdiff_t step, const int16_t weights[_Nonnull 3], ptrdiff_t pixels,
      int16_t *out);
  void (*luma_i16)(
      const void *in, ptrdiff_t step, const int16_t weights[_Nonnull 3], ptrdiff_t pixels,
      int16_t *out);
  /// Adds gain * (luma - blurred) to the first three channels of pixels of three or four; deep,
  /// rounded and saturated. The fourth is copied. If `has_alpha`, the difference is multiplied by
  /// it.
  void (*sharpen_luma_u8)(
      const void *in, ptrdiff_t step, const int16_t *luma, const int16_t *blurred, float gain,
      int has_alpha, ptrdiff_t pixels, int16_t *out);
  void (*sharpen_luma_i16)(
      const void *in, ptrdiff_t step, const int16_t *luma, const int16_t *blurred, float gain,
      int has_alpha, ptrdiff_t pixels, int16_t *out);
  /// Limits the first three of every four bytes to the fourth, in place.
  void (*limit_to_alpha_u8)(void *pixels, ptrdiff_t count);
  /// Clamps alpha, every fourth deep sample, to 0 ... 255 levels, and the colour before it to
  /// -alpha ... 2 alpha, in place.
  void (*clamp_by_alpha_i16)(int16_t *pixels, ptrdiff_t count);
  /// The colours of pixels of four bytes from sums with `shift` bits below a level (0 ... 7): >>
  /// shift, rounded and clamped. The fourth byte is the source's.
  void (*narrow_colors)(
      const int16_t *sums, ptrdiff_t shift, const void *source, ptrdiff_t pixels, void *out);

  // --- Windows (rows/windows) ---

  /// out = (bias + the sum of weights[k] * (inputs[k])[i]) >> shift, rounded and saturated. The
  /// number of taps is even, and sums must fit 32 bits.
  void (*convolve_u8)(
      const void *_Nonnull const *_Nonnull inputs, const int16_t *weights, ptrdiff_t tap_count,
      int32_t bias, ptrdiff_t shift, ptrdiff_t count, int16_t *out);
  void (*convolve_i16)(
      const void *_Nonnull const *_Nonnull inputs, const int16_t *weights, ptrdiff_t tap_count,
      int32_t bias, ptrdiff_t shift, ptrdiff_t count, int16_t *out);
  /// The same for bytes by using small weights, which are multiples of 1 / 2^shift: out = (bias +
  /// the sum of weights[k] * (inputs[k])[i]) >> shift as bytes, rounded and clamped. The sum of the
  /// weights' magnitudes is at most 127, and |bias| + 255 times that sum is at most 32767 -
  /// 2^(shift - 1). If `source` is not NULL, the fourth byte of every four is the source's.
  void (*convolve_bytes)(
      const void *_Nonnull const *_Nonnull inputs, const int8_t *weights, ptrdiff_t tap_count,
      int16_t bias, ptrdiff_t shift, const void *_Nullable source, ptrdiff_t count, void *out);
  /// Samples to floats, in levels.
  void (*to_float_u8)(const void *in, ptrdiff_t count, float *out);
  void (*to_float_i16)(const void *in, ptrdiff_t count, float *out);
  /// out = bias + the sum of weights[k] * (inputs[k])[i], deep, rounded and saturated: halves up,
  /// in the last samples of a row away from zero.
  void (*convolve_float)(
      const float *_Nonnull const *_Nonnull inputs, const float *weights, ptrdiff_t tap_count,
      float bias, ptrdiff_t count, int16_t *out);
  /// The median of 3x3 samples of a channel, exact; edges clamped.
  void (*median_u8)(
      const void *above, const void *middle, const void *below, ptrdiff_t step, ptrdiff_t pixels,
      void *out);
  void (*median_i16)(
      const void *above, const void *middle, const void *below, ptrdiff_t step, ptrdiff_t pixels,
      void *out);
  /// out = scale * sqrt(gx^2 + gy^2), Sobel's gradient of three rows of one plane from `offset` on.
  /// Rows are readable 1 sample beyond both ends of the run.
  void (*sobel)(
      const float *_Nonnull const *_Nonnull rows, ptrdiff_t offset, ptrdiff_t count, float scale,
      float *out);
  /// Noise reduction in windows of 5x5 pixels: colour = sum of w p / sum of w + sharpness * t,
  /// where w = max(0, 1 - slope * the greatest difference of a channel)^2, and t is the difference
  /// of the pixel's luma from the window's mean luma, moved towards 0 by `level`. Rows have three
  /// planes, `plane_stride` floats apart, readable 2 samples beyond both ends of the run from
  /// `offset` on.
  void (*denoise)(
      const float *_Nonnull const *_Nonnull rows, ptrdiff_t plane_stride, ptrdiff_t offset,
      ptrdiff_t count, float slope, float level, float sharpness, float *red, float *green,
      float *blue);

  /// Flat tones with dark lines, from windows of 3x3 pixels with the rows that `denoise` reads:
  /// (tone + (c - Y) * saturation) * (1 - lines * smoothstep(edge)), Y the Rec. 709 luma.
  void (*cartoon)(
      const float *_Nonnull const *_Nonnull rows, ptrdiff_t plane_stride, ptrdiff_t offset,
      ptrdiff_t count, const sl_cartoon *style, float *red, float *green, float *blue);

  // --- Geometry (rows/geometry) ---

  /// sums = weight * row, or sums + weight * row if `adds`, in 1/32 level.
  void (*weighted_row_u8)(const void *in, float weight, ptrdiff_t count, int adds, float *sums);
  void (*weighted_row_i16)(const void *in, float weight, ptrdiff_t count, int adds, float *sums);
  /// Pixel i of `out` = the sum of `taps` pixels from starts[i], weighted by the weights from i *
  /// taps; rounded and saturated.
  void (*resample_row_float)(
      const float *sums, ptrdiff_t step, const int32_t *starts, const float *weights,
      ptrdiff_t taps, ptrdiff_t pixels, int16_t *out);
  /// The same in integers: >> shift, rounded and saturated. The number of taps is even, and sums
  /// must fit 32 bits.
  void (*resample_row_u8)(
      const void *in, ptrdiff_t step, const int32_t *starts, const int16_t *weights,
      ptrdiff_t taps, ptrdiff_t pixels, ptrdiff_t shift, int16_t *out);
  void (*resample_row_i16)(
      const void *in, ptrdiff_t step, const int32_t *starts, const int16_t *weights,
      ptrdiff_t taps, ptrdiff_t pixels, ptrdiff_t shift, int16_t *out);
  /// Rotates by quarters and mirrors: pixel (x, y) of the result is `size` bytes at x * column + y
  /// * row from `in`. `column` or `row` is `size` or -`size`.
  void (*rotate)(
      const void *in, ptrdiff_t column, ptrdiff_t row, ptrdiff_t size, ptrdiff_t columns,
      ptrdiff_t rows, void *out, ptrdiff_t out_stride);
  /// The source positions of a row of pixels from column `x` by using a table: re and im are
  /// interpolated linearly between its entries. Coordinates are clamped to the plane, and rounded
  /// down to 1/32768 pixel. `coverage` rises from 0 to 1 over one pixel at the rim of the hole.
  void (*remap_radial_table)(
      const sl_remap_plane *plane, const sl_radial_map *map, ptrdiff_t x, ptrdiff_t y,
      ptrdiff_t count, const sl_remap_positions *positions);
  /// The same by using a curve. `rotates`: im is not 0. `is_partial`: pixels may be in the hole, or
  /// `reach` away; otherwise `coverage` is not written.
  void (*remap_radial_curve)(
      const sl_remap_plane *plane, const sl_radial_map *map, const sl_radial_curve *curve,
      int rotates, int is_partial, ptrdiff_t x, ptrdiff_t y, ptrdiff_t count,
      const sl_remap_positions *positions);
  /// The source positions start + i * slope. `coverage` falls to 0 over one pixel beyond the
  /// outermost pixels.
  void (*remap_line)(
      const sl_remap_plane *plane, const float start[_Nonnull 2], const float slope[_Nonnull 2],
      ptrdiff_t count, const sl_remap_positions *positions);
  /// Reads pixels at positions, bilinear, as sums, rounded; pixels of four channels with (*), whose
  /// weights are 1/32768 too small. The uncovered part of a pixel is `empty`, a sum per channel;
  /// NULL ignores `coverage`.
  void (*remap_read_u8)(
      const void *first, ptrdiff_t stride, ptrdiff_t step, int is_single_column,
      int is_single_row, const sl_remap_positions *positions, const int16_t *_Nullable empty,
      ptrdiff_t count, int16_t *out);
  void (*remap_read_i16)(
      const void *first, ptrdiff_t stride, ptrdiff_t step, int is_single_column,
      int is_single_row, const sl_remap_positions *positions, const int16_t *_Nullable empty,
      ptrdiff_t count, int16_t *out);
  /// Prefetches bytes that are read and written soon: the processor does not predict the short rows
  /// of tiles. Any address is valid.
  void (*prefetch_row)(const void *read, const void *written, ptrdiff_t bytes);
  /// out = sums * scale, rounded and saturated.
  void (*scale_sums)(const int32_t *sums, float scale, ptrdiff_t count, int16_t *out);

  // --- Cells and statistics (rows/cells) ---

  /// Adds runs of samples to the sums of their cells, four sums a cell, in place. Run k has the
  /// pixels edges[k] ..< edges[k + 1] and belongs to cell cells[k].
  void (*sum_cells_u8)(
      const void *in, ptrdiff_t step, const int32_t *edges, const int32_t *cells, ptrdiff_t runs,
      int64_t *sums);
  void (*sum_cells_i16)(
      const void *in, ptrdiff_t step, const int32_t *edges, const int32_t *cells, ptrdiff_t runs,
      int64_t *sums);
  /// Fills runs with the colours of their cells, four deep samples a cell.
  void (*fill_cells)(
      const int16_t *colors, ptrdiff_t step, const int32_t *edges, const int32_t *cells,
      ptrdiff_t runs, int16_t *out);
  /// Luma of pixels of three or four bytes by using weights in 1/32768 that sum to 1: >> 15,
  /// rounded.
  void (*luma_levels)(
      const void *in, ptrdiff_t step, const int16_t weights[_Nonnull 3], ptrdiff_t count,
      uint8_t *out);
  /// Bytes clamped to a range.
  void (*clamp_u8)(
      const void *in, uint8_t low, uint8_t high, ptrdiff_t count, uint8_t *out);
  /// Counts bytes by value; adds to 256 counts, in place.
  void (*histogram_u8)(const uint8_t *in, ptrdiff_t count, uint32_t *counts);
  /// Returns the sum of the absolute differences of two rows of bytes.
  int64_t (*absolute_difference_u8)(const uint8_t *left, const uint8_t *right, ptrdiff_t count);

  // --- Mattes (rows/mattes) ---

  /// Three planes of the red, green and blue of a small picture, as floats of whole numbers -128
  /// ... 127, `stride` apart: (deep sample + 16) >> 5, clamped, - 128. `red` and `blue` are the
  /// indices of their channels in a pixel.
  void (*guide_pixels)(
      const int16_t *in, ptrdiff_t step, ptrdiff_t red, ptrdiff_t blue, ptrdiff_t count,
      float *out, ptrdiff_t stride);
  /// The same from deep luma and chroma of the same size; chroma samples are `step` apart. With l =
  /// (luma - c[0]) * c[1] and chroma above grey: red (l + c[2] Cr) >> 19, green (l + c[3] Cb + c[4]
  /// Cr) >> 19, blue (l + c[5] Cb) >> 19, rounded, halves up.
  void (*guide_yuv)(
      const int16_t *luma, const int16_t *u, const int16_t *v, ptrdiff_t step, ptrdiff_t count,
      const int32_t conversion[_Nonnull 6], float *out, ptrdiff_t stride);
  /// The matte of a key colour, 0 ... 255 in whole numbers, rounded: the distance of a pixel of
  /// three planes from the key, minus `near`, times `scale`.
  void (*key_distance)(
      const float *guide, ptrdiff_t stride, ptrdiff_t count, const sl_key *key, float *out);
  /// Adds a row of red, green, blue and matte, and its products, to 13 sums: r, g, b, m, rr, rg,
  /// rb, rm, gg, gb, gm, bb, bm, times `sign`, in place.
  void (*guided_add_row)(
      const float *row, ptrdiff_t row_stride, float sign, ptrdiff_t count, float *sums,
      ptrdiff_t stride);
  /// The linear model of the matte in every box of 2 * radius + 1 columns (radius up to 16) and
  /// `rows` rows, from their sums: three weights and a bias. Sums are readable `radius` columns
  /// beyond both ends, and 0 there.
  void (*guided_solve)(
      const float *sums, ptrdiff_t stride, ptrdiff_t count, ptrdiff_t radius, ptrdiff_t rows,
      float epsilon, float *out, ptrdiff_t out_stride);
  /// The mean of the models over boxes of `number` rows, which are readable as sums are.
  void (*guided_average)(
      const float *_Nonnull const *_Nonnull rows, ptrdiff_t number, ptrdiff_t stride,
      ptrdiff_t count, ptrdiff_t radius, float *out, ptrdiff_t out_stride);
  /// Interpolates models between pixels that are `factor` apart, for count * factor pixels, and
  /// multiplies them by a matrix of 4x4 numbers, row by row. Pixel x is at (x + 1/2) / factor -
  /// 1/2; beyond the outermost models it has their values. Writes up to 4 more floats per row.
  void (*guided_expand)(
      const float *in, ptrdiff_t stride, ptrdiff_t count, const float matrix[_Nonnull 16],
      ptrdiff_t factor, float *out, ptrdiff_t out_stride);
  /// The alpha of a row of pixels of three or four channels; a fourth channel is ignored.
  void (*matte_pixels_u8)(
      const void *in, ptrdiff_t step, const sl_matte *matte, ptrdiff_t count, float *alpha);
  void (*matte_pixels_i16)(
      const void *in, ptrdiff_t step, const sl_matte *matte, ptrdiff_t count, float *alpha);
  /// The same for luma, and Cb and Cr above grey, in levels, per pixel.
  void (*matte_yuv_u8)(
      const void *luma, const float *cb, const float *cr, const sl_matte *matte, ptrdiff_t count,
      float *alpha);
  void (*matte_yuv_i16)(
      const void *luma, const float *cb, const float *cr, const sl_matte *matte, ptrdiff_t count,
      float *alpha);
  /// Means of 2x2 alphas; of 1x2 at an odd right edge. `count` counts the alphas of a row.
  void (*mean_alpha)(const float *upper, const float *lower, ptrdiff_t count, float *out);
  /// Blends pixels with a deep backdrop, whose channels are planes `stride` apart: clamp(c - (1 -
  /// alpha) * residue, ...) + (1 - alpha) * backdrop, c the colour without the key's excess;
  /// clamped to 0 ... 255 * alpha, and to alpha * c if that is outside. `has_alpha`: the fourth
  /// channel is alpha, and colours are multiplied by it; otherwise it is copied. `out` may be `in`,
  /// here and in the next rows. Clamped and rounded. A `has_alpha` of 2 mixes all four channels
  /// equally: alpha * c + (1 - alpha) * backdrop, without a key.
  void (*blend_pixels_u8)(
      const void *in, ptrdiff_t step, const float *alpha, const int16_t *backdrop,
      ptrdiff_t stride, const sl_key_blend *key, int has_alpha, ptrdiff_t count, void *out);
  void (*blend_pixels_i16)(
      const void *in, ptrdiff_t step, const float *alpha, const int16_t *backdrop,
      ptrdiff_t stride, const sl_key_blend *key, int has_alpha, ptrdiff_t count, void *out);
  /// Chroma samples as levels above grey, repeated for both of their pixels, and the excess of the
  /// key's channel. `step` is 1, or 2 with `v` = `u` + 1, here and in blend_chroma. `count` counts
  /// chroma samples.
  void (*key_chroma_u8)(
      const void *u, const void *v, ptrdiff_t step, const sl_key_blend_yuv *key, ptrdiff_t count,
      float *cb, float *cr, float *excess);
  void (*key_chroma_i16)(
      const void *u, const void *v, ptrdiff_t step, const sl_key_blend_yuv *key, ptrdiff_t count,
      float *cb, float *cr, float *excess);
  /// Blends luma, with an excess for every two pixels.
  void (*blend_luma_u8)(
      const void *in, const float *alpha, const float *excess, const int16_t *backdrop,
      const sl_key_blend_yuv *key, ptrdiff_t count, void *out);
  void (*blend_luma_i16)(
      const void *in, const float *alpha, const float *excess, const int16_t *backdrop,
      const sl_key_blend_yuv *key, ptrdiff_t count, void *out);
  /// Blends Cb and Cr, `step` samples apart in every row.
  void (*blend_chroma_u8)(
      const void *u, const void *v, ptrdiff_t step, const float *alpha, const float *excess,
      const int16_t *behind_u, const int16_t *behind_v, const sl_key_blend_yuv *key,
      ptrdiff_t count, void *out_u, void *out_v);
  void (*blend_chroma_i16)(
      const void *u, const void *v, ptrdiff_t step, const float *alpha, const float *excess,
      const int16_t *behind_u, const int16_t *behind_v, const sl_key_blend_yuv *key,
      ptrdiff_t count, void *out_u, void *out_v);

  /// Adds scaled detail to the colours of pixels of three or four channels, to deep samples; a
  /// fourth channel is copied. `has_alpha`: it is alpha, and colours are premultiplied.
  void (*detail_pixels_u8)(
      const void *in, ptrdiff_t step, const sl_detail *detail, int has_alpha, ptrdiff_t count,
      int16_t *out);
  void (*detail_pixels_i16)(
      const void *in, ptrdiff_t step, const sl_detail *detail, int has_alpha, ptrdiff_t count,
      int16_t *out);
  /// The same for luma, with Cb and Cr above grey in levels per pixel. `luma_range` is the luma of
  /// white above black.
  void (*detail_luma_u8)(
      const void *luma, const float *cb, const float *cr, const sl_detail *detail,
      float luma_range, ptrdiff_t count, int16_t *out);
  void (*detail_luma_i16)(
      const void *luma, const float *cb, const float *cr, const sl_detail *detail,
      float luma_range, ptrdiff_t count, int16_t *out);

  /// A deep row between two rows of levels, `fraction` of the way down; clamped and rounded.
  void (*mix_rows)(
      const float *upper, const float *lower, float fraction, ptrdiff_t count, int16_t *out);
  /// The same, one sample per pair of levels, their mean, `step` samples apart. `count` counts
  /// levels; the last one of an odd row isn't paired.
  void (*mix_pairs)(
      const float *upper, const float *lower, float fraction, ptrdiff_t count, ptrdiff_t step,
      int16_t *out);
  /// Adds light to samples that are `step` apart, in place: alpha times the level between two rows,
  /// as in mix_rows. Clamped and rounded.
  void (*add_light_u8)(
      void *samples, ptrdiff_t step, const float *alpha, const float *upper, const float *lower,
      float fraction, ptrdiff_t count);
  void (*add_light_i16)(
      void *samples, ptrdiff_t step, const float *alpha, const float *upper, const float *lower,
      float fraction, ptrdiff_t count);

  /// The luma of three planes: .299 R + .587 G + .114 B.
  void (*guide_luma)(const float *guide, ptrdiff_t stride, ptrdiff_t count, float *out);
  /// Four times a number minus its four neighbours. The ends of the row repeat beyond it.
  void (*laplacian)(
      const float *above, const float *row, const float *below, ptrdiff_t count, float *out);
  /// Returns the sum of mask * min(|left - right|, limit).
  float (*masked_difference)(
      const float *left, const float *right, const float *mask, float limit, ptrdiff_t count);
  /// The detail of a picture minus the detail of a plate at the picture's brightness. Colours are
  /// three planes less 128.
  void (*plate_texture)(
      const float *picture, ptrdiff_t stride, const float *plate, ptrdiff_t plate_stride,
      const float gains[_Nonnull 3], const float *detail, const float *plate_detail,
      ptrdiff_t count, float *out);
  /// The mean of boxes of 2 * radius + 1 columns (radius up to 16) and `number` rows. Columns
  /// outside the row do not count.
  void (*box_mean)(
      const float *_Nonnull const *_Nonnull rows, ptrdiff_t number, ptrdiff_t count,
      ptrdiff_t radius, float *out);
  /// The matte, 0 ... 1, from the distance of a picture from a plate.
  void (*plate_distance)(
      const float *picture, ptrdiff_t stride, const float *plate, ptrdiff_t plate_stride,
      const float *texture, const float *gradient, const sl_plate *parameters, ptrdiff_t count,
      float *out);

  /// Draws on samples: (sample * factor + summand) / 255, rounded. Sums are at most 255 * 255.
  void (*draw_caption)(
      uint8_t *samples, const uint8_t *factors, const uint16_t *summands, ptrdiff_t count);

  // --- Kernel language (rows/language) ---

  /// Runs a kernel program on `count` pixels, at most SL_KERNEL_RUN, in place. Unlike other rows of
  /// floats, every instruction set gives the same bits: without fused operations, and with
  /// polynomials for functions.
  void (*run_kernel)(
      const sl_kernel_program *program, float *_Nonnull const strip[_Nonnull 4],
      const float *_Nonnull const *_Nullable inputs, const float *single_inputs,
      const sl_kernel_picture *_Nullable pictures, ptrdiff_t count);
  /// The same on pixels of four bytes, which keep the fourth byte, for programs without inputs,
  /// alpha, position and time. `in` and `out` may be the same memory. `red` is the index of red in a
  /// pixel: 0 or 2.
  void (*run_kernel_pixels)(
      const sl_kernel_program *program, const uint8_t *in, ptrdiff_t count, ptrdiff_t red,
      uint8_t *out);
} sl_rows;

#pragma clang assume_nonnull end
