// Rows of the filters that change a picture's look by its structure (edges, noise, cells), and of the
// analyses that measure it.
//
// As in CKernels.h: total functions on one row. A "window" is what a neighbourhood kernel sees: the
// rows round the one that is computed, as planes of floats, readable `reach` pixels beyond both ends
// of the run; `offset` leads from a row's start to the run's first pixel in a plane.
#pragma once

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// The rows of one instruction set.
typedef struct sl_look_rows {
  /// `portable`, `avx2` or `avx512`.
  const char *name;

  /// out = scale * the length of Sobel's gradient, of three rows of one plane.
  void (*sobel)(
      const float *_Nonnull const *_Nonnull rows, ptrdiff_t offset, ptrdiff_t count, float scale,
      float *out);
  /// Smooths what differs little within 5 x 5 pixels and sharpens what stands out by more than a
  /// level; see noiseReduction. `slope` is one over the difference at which a neighbour no longer
  /// counts. Rows have three planes, `plane_stride` floats apart.
  void (*denoise)(
      const float *_Nonnull const *_Nonnull rows, ptrdiff_t plane_stride, ptrdiff_t offset,
      ptrdiff_t count, float slope, float level, float sharpness, float *red, float *green,
      float *blue);

  /// Adds runs of samples to the sums of their cells, four sums a cell. Run k reaches from pixel
  /// edges[k] to edges[k + 1] and belongs to cell cells[k].
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

  /// Luma of pixels of three or four bytes by weights in 1/32768 that sum to 1, rounded to a level.
  void (*level_pixels)(
      const void *in, ptrdiff_t step, const int16_t weights[_Nonnull 3], ptrdiff_t count,
      uint8_t *out);
  /// Bytes limited to a range.
  void (*clamp_bytes)(
      const void *in, uint8_t low, uint8_t high, ptrdiff_t count, uint8_t *out);
  /// Counts bytes by their value; adds to 256 counts.
  void (*count_bytes)(const uint8_t *in, ptrdiff_t count, uint32_t *counts);
  /// The sum of the absolute differences of two rows of bytes.
  int64_t (*difference)(const uint8_t *left, const uint8_t *right, ptrdiff_t count);
} sl_look_rows;

/// The calling thread's table: that of the same instruction set as sl_rows_current().
const sl_look_rows *sl_look_rows_current(void);

#pragma clang assume_nonnull end
