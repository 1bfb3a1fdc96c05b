// Rows of the filters that make a pixel from others: means over boxes, lines and rays, sharpening,
// convolution, medians, and pixels from another place.
//
// As in CKernels.h: total functions, bytes ("u8") or deep samples ("i16", 1/32 level). "Sums" are
// 16-bit numbers of 1/64 level where they come from bytes, of 1/32 level where they come from deep
// samples. A row is interleaved: a pixel's channels lie `step` apart. Destination and source must
// not overlap.
#pragma once

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// A place on a line: two neighbouring samples and how much of each.
typedef struct sl_tap {
  const void *first;
  const void *second;
  int16_t first_weight;
  int16_t second_weight;
} sl_tap;

/// How a sum over a box of bytes becomes its mean: the sum, and `fraction` of the samples at its
/// ends (in 1/65536), times 2^shift, times `factor` / 2^23.
typedef struct sl_box_scale {
  uint16_t shift;
  uint16_t fraction;
  uint16_t factor;
  /// How many bits below a level are kept of means that are not bytes yet, 0 ... 6.
  uint16_t bits;
} sl_box_scale;

/// The rows of bytes by which boxes slide down by one: that which they now reach, that which they
/// have left, and that beyond the one they now reach.
typedef struct sl_box_rows {
  const void *entering;
  const void *leaving;
  const void *after;
} sl_box_rows;

/// One point of every ray of a row: pixel x is read at column x * scale + offset, clamped, between
/// two rows.
typedef struct sl_ray_tap {
  const void *upper;
  const void *lower;
  float scale;
  float offset;
  /// How far towards the lower row, in 1/32767.
  int16_t down;
  /// scale * (lane / step) in 1/1024, for 32 lanes: the steps within a block of samples.
  const int16_t *lanes;
} sl_ray_tap;

/// Where the pixels of a row are read along rays: the same for all rows. Blocks of `ray_block`
/// pixels lie one after the other, the last flush with the row's end; in each, the taps; for each
/// tap, the pixels.
typedef struct sl_ray_places {
  /// The first pixel that each block and tap reads.
  int32_t *first;
  /// For each pixel the left one of the two that it is read from, counted from the first, in the
  /// lower 16 bits; above, a byte each, how much of the left one and of its neighbour, in 1/64.
  uint32_t *pixels;
} sl_ray_places;

/// A plane from which pixels are read at computed places.
typedef struct sl_warp_plane {
  /// The largest place that there is: width - 1 and height - 1.
  float max_x;
  float max_y;
  /// Bytes from pixel to pixel and from row to row.
  uint32_t pixel_bytes;
  uint32_t row_bytes;
} sl_warp_plane;

/// A similarity about a centre that depends on the distance: the pixel at p comes from
/// centre + (p - centre) * (re + i im); from `reach` on, from itself.
typedef struct sl_radial_map {
  /// Pairs (re, im) by distance; `entries` of them, and one more that repeats the last.
  const float *table;
  int32_t entries;
  /// Entries a pixel of distance.
  float density;
  /// In pixels of the plane.
  float center_x;
  float center_y;
  float reach;
  /// Within this distance of the centre there is nothing.
  float hole;
} sl_radial_map;

/// How many coefficients the polynomials of a sl_radial_curve have.
#define SL_RADIAL_TERMS 8

/// re and im of a radial map over a range of distances, as polynomials of (distance - middle) *
/// scale, constants first.
typedef struct sl_radial_curve {
  float middle;
  float scale;
  float re[SL_RADIAL_TERMS];
  float im[SL_RADIAL_TERMS];
} sl_radial_curve;

/// The places that a run of pixels comes from, as arrays.
typedef struct sl_warp_places {
  /// The bytes from the plane's first to the upper left of four pixels; never in the last column or
  /// row, unless there is but one.
  uint32_t *offset;
  /// How far towards the right and the lower ones, in 1/32767.
  int16_t *right;
  int16_t *down;
  /// How much there is of the pixel, in 1/32767.
  int16_t *cover;
} sl_warp_places;

/// The rows of one instruction set.
typedef struct sl_area_rows {
  /// `portable`, `avx2` or `avx512`.
  const char *name;

  /// sums = sums + entering - leaving: slides a window of rows down by one.
  void (*slide_u8)(const void *entering, const void *leaving, ptrdiff_t count, int32_t *sums);
  void (*slide_i16)(const void *entering, const void *leaving, ptrdiff_t count, int32_t *sums);
  /// out = (sums + fraction * (above + below)) * scale, rounded.
  void (*box_down_u8)(
      const int32_t *sums, const void *above, const void *below, float fraction, float scale,
      ptrdiff_t count, int16_t *out);
  void (*box_down_i16)(
      const int32_t *sums, const void *above, const void *below, float fraction, float scale,
      ptrdiff_t count, int16_t *out);
  /// The mean of 2 * radius + 1 pixels along a row, and of `fraction` of those next to them. The row
  /// must be readable radius + 1 pixels beyond both ends.
  void (*box_across)(
      const int16_t *in, ptrdiff_t step, ptrdiff_t pixels, ptrdiff_t radius, float fraction,
      int16_t *out);

  /// The same for boxes of bytes whose sums 16 bits hold (at most 257 samples): slides `sums` down
  /// by one row and gives the means, as bytes or with `bits` bits below a level.
  void (*box_down_bytes)(
      const sl_box_rows *rows, const sl_box_scale *scale, ptrdiff_t count, uint16_t *sums,
      uint8_t *out);
  void (*box_down_sums)(
      const sl_box_rows *rows, const sl_box_scale *scale, ptrdiff_t count, uint16_t *sums,
      uint16_t *out);
  /// Along a row of means with some bits below a level, which must be readable radius + 1 pixels
  /// beyond both ends; gives bytes.
  void (*box_across_bytes)(
      const uint16_t *in, ptrdiff_t step, ptrdiff_t pixels, ptrdiff_t radius,
      const sl_box_scale *scale, void *out);
  /// Bytes to 16 bits.
  void (*widen_sums)(const void *in, ptrdiff_t count, uint16_t *out);

  /// out = scale * the sum of the taps, rounded. "coarse": the weights of each tap sum to at most
  /// 256 / group. "fine": no weight exceeds 4096, nor their sum 65536.
  void (*line_coarse_u8)(
      const sl_tap *taps, ptrdiff_t tap_count, ptrdiff_t group, float scale, ptrdiff_t count,
      int16_t *out);
  void (*line_fine_u8)(
      const sl_tap *taps, ptrdiff_t tap_count, float scale, ptrdiff_t count, int16_t *out);
  void (*line_fine_i16)(
      const sl_tap *taps, ptrdiff_t tap_count, float scale, ptrdiff_t count, int16_t *out);

  /// out = the weighted sum of 2 * radius + 1 rows, symmetric; weights in 1/32768, the centre's
  /// first. Rounded once.
  void (*symmetric_down_u8)(
      const void *_Nonnull const *_Nonnull rows, ptrdiff_t radius, const int16_t *weights,
      ptrdiff_t count, int16_t *out);
  void (*symmetric_down_i16)(
      const void *_Nonnull const *_Nonnull rows, ptrdiff_t radius, const int16_t *weights,
      ptrdiff_t count, int16_t *out);
  /// The same along a row that is readable `radius * step` samples beyond both ends.
  void (*symmetric_across)(
      const int16_t *in, ptrdiff_t step, ptrdiff_t radius, const int16_t *weights,
      ptrdiff_t count, int16_t *out);
  /// out = in + up * max(0, d) + down * min(0, d), d = blurred * unit - in; deep. `unit` is a sum's
  /// in levels.
  void (*lean_u8)(
      const void *in, const int16_t *blurred, float unit, float up, float down, ptrdiff_t count,
      int16_t *out);
  void (*lean_i16)(
      const void *in, const int16_t *blurred, float unit, float up, float down, ptrdiff_t count,
      int16_t *out);
  /// One row of chroma, drawn to its blurred self as far as the luma of its pixels is to its own:
  /// out = in + (blurred * unit - in) * g * min(|d| / ramp, 1), d the mean difference of luma in
  /// levels over 2 x 2 pixels, g = up or down by its sign; deep. `blurred` is deep, `width` counts
  /// pixels of luma.
  void (*follow_u8)(
      const void *upper, const void *lower, const int16_t *blurred_upper,
      const int16_t *blurred_lower, ptrdiff_t width, const void *in, const int16_t *blurred,
      ptrdiff_t step, float up, float down, float ramp, int16_t *out);
  void (*follow_i16)(
      const void *upper, const void *lower, const int16_t *blurred_upper,
      const int16_t *blurred_lower, ptrdiff_t width, const void *in, const int16_t *blurred,
      ptrdiff_t step, float up, float down, float ramp, int16_t *out);
  /// Luma of pixels of four or three channels by three weights in 1/32768, as sums.
  void (*luma_u8)(
      const void *in, ptrdiff_t step, const int16_t weights[_Nonnull 3], ptrdiff_t pixels,
      int16_t *out);
  void (*luma_i16)(
      const void *in, ptrdiff_t step, const int16_t weights[_Nonnull 3], ptrdiff_t pixels,
      int16_t *out);
  /// Adds gain * (luma - blurred) to the first three channels of each pixel; deep. The fourth, if
  /// there is one, is passed on; if it is alpha, what is added is multiplied by it.
  void (*lift_u8)(
      const void *in, ptrdiff_t step, const int16_t *luma, const int16_t *blurred, float gain,
      int has_alpha, ptrdiff_t pixels, int16_t *out);
  void (*lift_i16)(
      const void *in, ptrdiff_t step, const int16_t *luma, const int16_t *blurred, float gain,
      int has_alpha, ptrdiff_t pixels, int16_t *out);

  /// Limits the first three of every four bytes to the fourth.
  void (*limit_to_alpha)(void *pixels, ptrdiff_t count);

  /// Clamps alpha, every fourth deep sample, to 0 ... 255 levels, and colour to -alpha ... 2 alpha.
  void (*bound_by_alpha)(int16_t *pixels, ptrdiff_t count);

  /// out = (bias + the sum of weights[k] * (places[k])[i]) >> shift, rounded and saturated. An even
  /// number of taps; no sum may leave 32 bits.
  void (*convolve_u8)(
      const void *_Nonnull const *_Nonnull places, const int16_t *weights, ptrdiff_t tap_count,
      int32_t bias, ptrdiff_t shift, ptrdiff_t count, int16_t *out);
  void (*convolve_i16)(
      const void *_Nonnull const *_Nonnull places, const int16_t *weights, ptrdiff_t tap_count,
      int32_t bias, ptrdiff_t shift, ptrdiff_t count, int16_t *out);
  /// Pixel i of `out` = the sum of `taps` pixels from starts[i], times the weights from i * taps,
  /// >> shift, rounded and saturated. An even number of taps; no sum may leave 32 bits.
  void (*along_u8)(
      const void *in, ptrdiff_t step, const int32_t *starts, const int16_t *weights,
      ptrdiff_t taps, ptrdiff_t pixels, ptrdiff_t shift, int16_t *out);
  void (*along_i16)(
      const void *in, ptrdiff_t step, const int32_t *starts, const int16_t *weights,
      ptrdiff_t taps, ptrdiff_t pixels, ptrdiff_t shift, int16_t *out);
  /// Samples to floats.
  void (*float_u8)(const void *in, ptrdiff_t count, float *out);
  void (*float_i16)(const void *in, ptrdiff_t count, float *out);
  /// out = bias + the sum of weights[k] * (places[k])[i], deep.
  void (*convolve)(
      const float *_Nonnull const *_Nonnull places, const float *weights, ptrdiff_t tap_count,
      float bias, ptrdiff_t count, int16_t *out);

  /// The median of 3 x 3 samples, stored as the samples are; edges clamped.
  void (*median_u8)(
      const void *above, const void *middle, const void *below, ptrdiff_t step, ptrdiff_t pixels,
      void *out);
  void (*median_i16)(
      const void *above, const void *middle, const void *below, ptrdiff_t step, ptrdiff_t pixels,
      void *out);

  /// Pixels of `size` bytes from other places: the result's pixel (x, y) lies x * column + y * row
  /// bytes from `in`. `column` or `row` is the size, or less than 0 by as much: the source's pixels
  /// side by side.
  void (*turn)(
      const void *in, ptrdiff_t column, ptrdiff_t row, ptrdiff_t size, ptrdiff_t columns,
      ptrdiff_t rows, void *out, ptrdiff_t out_stride);

  /// Where the pixels of a row come from, from column `x`: looked up by distance.
  void (*radial_places_table)(
      const sl_warp_plane *plane, const sl_radial_map *map, ptrdiff_t x, ptrdiff_t y,
      ptrdiff_t count, const sl_warp_places *places);
  /// The same by a curve. `turns`: whether im is not 0; `covers`: whether `cover` is wanted.
  void (*radial_places_curve)(
      const sl_warp_plane *plane, const sl_radial_map *map, const sl_radial_curve *curve,
      int turns, int covers, ptrdiff_t x, ptrdiff_t y, ptrdiff_t count,
      const sl_warp_places *places);
  /// Places along a line. Beyond the outermost pixels, `cover` falls to 0 over one pixel.
  void (*line_places)(
      const sl_warp_plane *plane, const float start[_Nonnull 2], const float slope[_Nonnull 2],
      ptrdiff_t count, const sl_warp_places *places);
  /// Reads pixels at places, bilinear, as sums; where there is less than all of a pixel, the rest
  /// is `nothing`, one sum a channel.
  void (*warp_read_u8)(
      const void *first, ptrdiff_t stride, ptrdiff_t step, int is_single_column,
      int is_single_row, const sl_warp_places *places, const int16_t *_Nullable nothing,
      ptrdiff_t count, int16_t *out);
  void (*warp_read_i16)(
      const void *first, ptrdiff_t stride, ptrdiff_t step, int is_single_column,
      int is_single_row, const sl_warp_places *places, const int16_t *_Nullable nothing,
      ptrdiff_t count, int16_t *out);

  /// Sums with `shift` bits below a level to the colours of pixels of four bytes, rounded and
  /// clamped; the fourth byte is the source's.
  void (*narrow_colors)(
      const int16_t *sums, ptrdiff_t shift, const void *source, ptrdiff_t pixels, void *out);
  /// Has the processor fetch what will soon be read and written: tiles of a frame are too short for
  /// it to see by itself. Any address will do.
  void (*fetch_ahead)(const void *read, const void *written, ptrdiff_t bytes);

  /// out = sums * scale, rounded.
  void (*mean_sums)(const int32_t *sums, float scale, ptrdiff_t count, int16_t *out);

  /// How many pixels a block of sl_ray_places has; 0 where ray_u8 has no use for them.
  ptrdiff_t ray_block;
  /// Works out the places along rays to `center`, a share of each pixel's distance for each tap,
  /// -1 ... 1, for rows of more than `ray_block` pixels.
  void (*ray_places)(
      const float *shares, ptrdiff_t tap_count, float center, ptrdiff_t pixels,
      sl_ray_places places);
  /// The mean of all taps, bilinear, as sums; quicker with the places of 8 taps, where pixels have
  /// four channels.
  void (*ray_u8)(
      const sl_ray_tap *taps, ptrdiff_t tap_count, ptrdiff_t step, ptrdiff_t pixels,
      const sl_ray_places *_Nullable places, int16_t *out);
  void (*ray_i16)(
      const sl_ray_tap *taps, ptrdiff_t tap_count, ptrdiff_t step, ptrdiff_t pixels, int16_t *out);
} sl_area_rows;

/// The rows of the same instruction set as sl_rows_current().
const sl_area_rows *sl_area_rows_current(void);

#pragma clang assume_nonnull end
