// Parameters of pixel rows.
#pragma once

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// --- Colour ---

/// A conversion of YUV code values to RGB in 0 ... 1: level = luma_scale * (Y - luma_offset);
/// R = level + red_v * (V - 128); G = level + green_u * (U - 128) + green_v * (V - 128);
/// B = level + blue_u * (U - 128).
typedef struct sl_yuv_to_rgb {
  float luma_offset;
  float luma_scale;
  float red_v;
  float green_u;
  float green_v;
  float blue_u;
} sl_yuv_to_rgb;

/// The 256 replacement values for every one of the first three bytes of a pixel.
typedef struct sl_byte_tables {
  uint8_t entries[3][256];
  /// Whether the three tables are equal.
  int32_t are_equal;
} sl_byte_tables;

/// A conversion of RGB in 0 ... 1 to YUV code values: Y = luma . RGB + luma_offset; U = u . RGB +
/// 128; V = v . RGB + 128.
typedef struct sl_rgb_to_yuv {
  float luma[3];
  float u[3];
  float v[3];
  float luma_offset;
} sl_rgb_to_yuv;

/// A conversion of four-byte pixels to luma and chroma, ignoring the fourth byte: (weights. bytes +
/// bias) >> 16, rounded down and clamped. The weight of the second byte is the sum of the second
/// and the fourth weight.
typedef struct sl_pixels_to_yuv {
  /// In 1/65536.
  int16_t luma[4];
  /// Of Cb and of Cr, for the sum of four pixels: in 1/16384.
  int16_t chroma[2][4];
  /// Of luma, Cb and Cr, in 1/65536 level, with a half level for rounding.
  int32_t biases[3];
} sl_pixels_to_yuv;

/// A colour matrix: 4 rows of (red, green, blue, alpha, bias).
typedef struct sl_matrix {
  float rows[4][5];
} sl_matrix;

/// The operator that combines a strip with another picture; s the strip's premultiplied colour, o
/// the other's, sa and oa their alphas.
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

// --- Chains in normal form ---

/// The maximum number of terms c1, c2, ... of a chain in normal form.
#define SL_CHAIN_TERMS 3

/// A chain of colour matrices and fields in normal form, for pixels of four bytes:
/// G0 * (M * p + c0) + G1 * c1 + G2 * c2 + ... + last. Channels are in their order in memory; the
/// fourth byte is copied. No sum exceeds 16 bits.
typedef struct sl_chain {
  /// M: the weights of the four bytes for all three results, in 1 / 2^shift. The fourth byte's
  /// weight is 0, except in folded_pixels_premultiplied.
  int16_t coefficients[3][4];
  /// c0 in 1 / 2^shift level. With the half unit that rounding adds, the three have at most 15
  /// significant bits from the highest of any of them on, which is at most the 2^(low - 2)th, `low`
  /// being the number of bits shifted out.
  int32_t bias[3];
  /// 10 ... 14.
  int32_t shift;
  /// The bits below a level of M * p + c0, for a chain with fields: 4 or 5, shift - 9.
  int32_t fraction;
  /// The number of `terms`, 0 ... SL_CHAIN_TERMS.
  int32_t term_count;
  /// c1 ... in 1 / 2^fraction level.
  int16_t terms[SL_CHAIN_TERMS][3];
  /// In 1 / 2^(fraction - 1) level.
  int16_t last[3];
} sl_chain;

/// The terms of a chain in normal form for one plane of samples.
typedef struct sl_chain_plane {
  /// The number of `terms`, 0 ... SL_CHAIN_TERMS.
  int32_t term_count;
  /// c1 ... in 1/32 level.
  int16_t terms[SL_CHAIN_TERMS];
  /// In 1/16 level; in 1/32 level for a chain without a field.
  int16_t last;
} sl_chain_plane;

// --- Blurs ---

/// The conversion of a sum over a box of bytes to its mean in 1/128 level:
/// ((sum << shift) + ((ends << shift) * fraction >> 16)) * factor >> 16, where `ends` is the sum of
/// the two samples next to the box.
typedef struct sl_box_scale {
  uint16_t shift;
  /// The weight of the samples at the ends, in 1/65536.
  uint16_t fraction;
  uint16_t factor;
  /// The number of bits below a level that box_vertical_narrow_u16 keeps, 0 ... 6.
  uint16_t bits;
} sl_box_scale;

/// The rows of bytes that a box needs to slide down by one row.
typedef struct sl_box_rows {
  /// The row that enters the box.
  const void *entering;
  /// The row that leaves it, which is then the row above the box.
  const void *leaving;
  /// The row below the box.
  const void *after;
} sl_box_rows;

/// A position on a line: two samples and their weights.
typedef struct sl_line_tap {
  const void *first;
  const void *second;
  int16_t first_weight;
  int16_t second_weight;
} sl_line_tap;

/// One point of every ray of a row: pixel x is read at column x * scale + offset, clamped to the
/// row, between two rows.
typedef struct sl_zoom_tap {
  const void *upper;
  const void *lower;
  float scale;
  float offset;
  /// The weight of the lower row, in 1/32767.
  int16_t down;
  /// scale * (lane / step) in 1/1024, for 32 lanes: the steps within a block of samples.
  const int16_t *lanes;
} sl_zoom_tap;

/// The positions at which the pixels of a row are read along rays; all rows share them. In order:
/// blocks of `zoom_block` pixels, the last flush with the row's end; the taps of a block; the
/// pixels of a tap.
typedef struct sl_zoom_positions {
  /// The first pixel that is read, per block and tap.
  int32_t *first;
  /// Per pixel: in bits 0 ... 15, the left one of the two pixels that it is read from, counted from
  /// `first`; in bits 16 ... 23 the left one's weight and in bits 24 ... 31 its neighbour's, in
  /// 1/64.
  uint32_t *pixels;
} sl_zoom_positions;

// --- Remapping ---

/// A plane from which pixels are read at computed positions.
typedef struct sl_remap_plane {
  /// The largest coordinates: width - 1 and height - 1.
  float max_x;
  float max_y;
  /// Bytes from pixel to pixel and from row to row.
  uint32_t pixel_bytes;
  uint32_t row_bytes;
} sl_remap_plane;

/// A similarity about a centre that depends on the distance: the pixel at p comes from
/// centre + (p - centre) * (re + i im); from `reach` on, from p itself.
typedef struct sl_radial_map {
  /// Pairs (re, im) by distance: `entries` of them, and one more that repeats the last.
  const float *table;
  int32_t entries;
  /// Entries per pixel of distance.
  float density;
  /// In pixels of the plane.
  float center_x;
  float center_y;
  float reach;
  /// Pixels within this distance of the centre are empty.
  float hole;
} sl_radial_map;

/// The maximum number of coefficients of a polynomial of an sl_radial_curve, and a number that is
/// faster and suffices for most tiles.
#define SL_RADIAL_TERMS 8
#define SL_FEW_RADIAL_TERMS 5

/// re and im of a radial map over a range of distances, as polynomials of
/// t = clamp((distance - middle) * scale, -1, 1), constants first.
typedef struct sl_radial_curve {
  /// The number of coefficients in use: SL_FEW_RADIAL_TERMS or SL_RADIAL_TERMS.
  int32_t terms;
  float middle;
  float scale;
  float re[SL_RADIAL_TERMS];
  float im[SL_RADIAL_TERMS];
} sl_radial_curve;

/// The source positions of a run of pixels, as arrays.
typedef struct sl_remap_positions {
  /// The bytes from the plane's first pixel to the upper left of the four pixels around the
  /// position; never in the last column or row, unless it is the only one.
  uint32_t *offset;
  /// The weights of the right and of the lower pixels, in 1/32767; the remaining bits of a position
  /// in 1/32768 pixel, to keep every weight's error within one unit.
  int16_t *right;
  int16_t *down;
  /// The part of the pixel that the plane covers, in 1/32767.
  int16_t *coverage;
} sl_remap_positions;

// --- Mattes ---

/// The maximum number of frame pixels per pixel of a matte, along either axis.
#define SL_MATTE_FACTOR 64

/// The style of a cartoon.
typedef struct sl_cartoon {
  /// The number of steps between black and white.
  float tones;
  /// The slope between two tones: their transition has 1 / softness of a step.
  float softness;
  float saturation;
  /// The darkness of lines, 0 ... 1.
  float lines;
  /// The squared gradient (Sobel / 4) at which a line begins, and 1 / (where it is full - that).
  float edge_low;
  float edge_scale;
} sl_cartoon;

/// The detail of a row of pixels: d = the sum of weight * channel over three channels in levels, +
/// bias, in units of white; and the change clamp(gain * d * d^2 / (d^2 + coring), -limit, limit).
typedef struct sl_detail {
  /// The models above and below the row: three rows of weights and one of biases, `stride` apart.
  const float *upper;
  const float *lower;
  ptrdiff_t stride;
  /// The share of the models below.
  float fraction;
  float gain;
  float coring;
  float limit;
  /// Whether the change is multiplied by clamp(1.5 - q, 0, 1), q the squared distance of Cb and Cr,
  /// in units of white, from a centre, both times their scale.
  int32_t is_skin;
  /// The weights of the three channels of pixels, in levels, in Cb and Cr times 255 of BT.601; of
  /// luma, Cb and Cr above grey in Cb and Cr of BT.601.
  float cb[3];
  float cr[3];
  float skin_center[2];
  float skin_scale[2];
} sl_detail;

/// The models of a matte for a row of pixels: value = the sum of weight * channel over three
/// channels in levels, + bias; alpha = 3 t^2 - 2 t^3, t = clamp((value - low) * slope, 0, 1).
typedef struct sl_matte {
  /// The models above and below the row: three rows of weights and one of biases, `stride` apart.
  const float *upper;
  const float *lower;
  ptrdiff_t stride;
  /// The share of the models below.
  float fraction;
  float low;
  float slope;
} sl_matte;

/// A key colour in the plane of Cb and Cr, in levels.
typedef struct sl_key {
  /// The weights of red, green and blue in Cb and in Cr; their sums are 0.
  float cb[3];
  float cr[3];
  /// The direction from grey to the key colour, of length 1 or 0.
  float direction[2];
  /// The part of the ray in this direction that matches the key colour.
  float start;
  float end;
  /// The distance up to which a colour is keyed.
  float near;
  /// 255 / the distance beyond `near` over which the matte rises to 255.
  float scale;
} sl_key;

/// The removal of a key colour from pixels of three or four channels.
typedef struct sl_key_blend {
  /// The channel that is limited to the greater of the others, 0 ... 2 in their order in memory; -1
  /// disables the limit.
  int32_t channel;
  /// The share of the excess that is removed.
  float spill;
  /// The key colour without its excess, in levels, in the order in memory.
  float residue[3];
  /// Whether to blend without a key: a colour's share is alpha * c.
  int32_t is_plain;
} sl_key_blend;

/// The removal of a key colour from luma and chroma.
typedef struct sl_key_blend_yuv {
  /// The differences of the key's channel from the others, per level of Cb and Cr. The smaller one,
  /// if greater than 0, is the excess.
  float first[2];
  float second[2];
  /// The changes of luma, Cb and Cr that remove an excess of 1.
  float gains[3];
  /// The key colour without its excess: luma above black, Cb and Cr above grey.
  float residue[3];
  /// The luma of black, the luma of white above it, and the maximum chroma above grey.
  float luma_offset;
  float luma_range;
  float chroma_range;
  /// Whether to blend without a key: a share is alpha times the colour.
  int32_t is_plain;
} sl_key_blend_yuv;

/// A soft edge of weights: clamp(position - p, 0, width) * slope / 65536, rounded, at 0 <= p <
/// 65536, which is 0 ... 256. `slope` is 2^24 / `width`, rounded.
typedef struct sl_soft_edge {
  int32_t position, width, slope;
} sl_soft_edge;

/// The comparison of a picture with a plate, a picture of the empty scene; in levels.
typedef struct sl_plate {
  /// The factors of the plate's red, green and blue.
  float gains[3];
  /// The range of brightness, relative to the plate's, of pixels that may be in shadow.
  float darkest;
  float lightest;
  /// The texture up to which it may be.
  float texture;
  /// The share of a shadow's brightness that counts.
  float shadow;
  /// The difference up to which a pixel is background, tolerance + slope * gradient, and the share
  /// of the difference over which the matte rises to 1.
  float tolerance;
  float slope;
  float softness;
} sl_plate;

// --- Kernel language ---

/// The operations of kernel programs on numbers a, b and c. Comparisons give 1 or 0.
typedef enum sl_kernel_operation {
  SL_KERNEL_COPY,
  SL_KERNEL_NEGATE,
  SL_KERNEL_ABS,
  SL_KERNEL_SIGN,
  SL_KERNEL_FLOOR,
  /// a - floor(a).
  SL_KERNEL_FRACT,
  /// The square root of max(a, 0).
  SL_KERNEL_SQRT,
  /// 2^a, with a limited to -126 ... 127.
  SL_KERNEL_EXP2,
  /// The logarithm of a, or of the smallest normal number if a is smaller.
  SL_KERNEL_LOG2,
  /// Of an angle in radians; beyond +-2^22 the result for 0.
  SL_KERNEL_SIN,
  SL_KERNEL_COS,
  /// a limited to +-65504; 0 for NaN.
  SL_KERNEL_FINITE,
  SL_KERNEL_ADD,
  SL_KERNEL_SUBTRACT,
  SL_KERNEL_MULTIPLY,
  SL_KERNEL_DIVIDE,
  /// b if b < a, else a.
  SL_KERNEL_MIN,
  /// b if a < b, else a.
  SL_KERNEL_MAX,
  /// a - b * floor(a / b).
  SL_KERNEL_MOD,
  /// a^b for a > 0; 0 for other a.
  SL_KERNEL_POW,
  /// 0 if b < a, else 1.
  SL_KERNEL_STEP,
  /// The angle of the point (b, a), in -pi ... pi; 0 at the origin.
  SL_KERNEL_ATAN2,
  SL_KERNEL_LESS,
  SL_KERNEL_LESS_EQUAL,
  SL_KERNEL_EQUAL,
  /// A random number of 0 ... 1 without 1 for the bits of a and b; -0 and NaN count as 0.
  SL_KERNEL_HASH,
  /// a * b, rounded, + c.
  SL_KERNEL_MULTIPLY_ADD,
  /// a + (b - a) * c.
  SL_KERNEL_MIX,
  /// min(max(a, b), c).
  SL_KERNEL_CLAMP,
  /// 3 t^2 - 2 t^3 with t = (a - b) * c, limited to 0 ... 1; 0 for NaN.
  SL_KERNEL_SMOOTH,
  /// b if a is not 0, else c.
  SL_KERNEL_SELECT,
  /// The pixel of a picture at (a, b), in pixels from the top left: interpolated linearly, and
  /// clamped at the edges. The step after it is no step: its slots `out`, `a` and `b` are the rows
  /// of green, blue and alpha.
  SL_KERNEL_READ,
  /// A weighted sum of rows, as many as `singles`: row a times single number b, plus that of the
  /// next step, and so on, in this order. The steps after the first are no steps of their own.
  SL_KERNEL_SUM,
} sl_kernel_operation;

/// One step of a kernel program. Slots are rows of numbers, or single numbers that hold for the
/// whole row.
typedef struct sl_kernel_step {
  /// An sl_kernel_operation.
  uint8_t operation;
  /// Bits 0, 1 and 2: whether the slots a, b and c are single numbers; not all of them. Of a read:
  /// the number of the picture.
  uint8_t singles;
  uint16_t out;
  uint16_t a;
  /// Repeats the slot `a` if the operation lacks this operand.
  uint16_t b;
  uint16_t c;
} sl_kernel_step;

/// A picture that kernel programs read at computed positions: four interleaved channels with red or
/// blue first, and alpha last.
typedef struct sl_kernel_picture {
  const void *start;
  ptrdiff_t stride;
  int32_t width;
  int32_t height;
  /// Whether samples are deep (16 bits, in units of 1/32 level).
  int32_t is_deep;
  int32_t is_bgra;
} sl_kernel_picture;

/// The maximum number of slots of a kernel program.
#define SL_KERNEL_SLOTS 4096
/// The maximum number of row temporaries of a kernel program.
#define SL_KERNEL_ROWS 1024
/// The longest run of pixels.
#define SL_KERNEL_RUN 256

/// A program on the pixels of a row. Its slots are, in this order: the four rows of the strip, rows
/// of inputs, row temporaries, constants, single inputs, single temporaries.
typedef struct sl_kernel_program {
  /// The steps on single numbers, as if they were rows of one, followed by the steps on rows.
  const sl_kernel_step *steps;
  int32_t single_steps;
  int32_t row_steps;
  const float *constants;
  int32_t inputs;
  int32_t rows;
  int32_t constant_count;
  int32_t single_inputs;
  int32_t singles;
} sl_kernel_program;

#pragma clang assume_nonnull end
