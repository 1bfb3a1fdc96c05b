#ifndef SIDELIGHT_CTEXT_H
#define SIDELIGHT_CTEXT_H

#include <stddef.h>
#include <stdint.h>

/// Fonts, shaping and glyphs, through FreeType, HarfBuzz and FriBidi, without their types. Lengths
/// are in 1/64 pixel unless stated. Only one thread at a time may use a face.

/// An opened font.
typedef struct ctext_face ctext_face;

/// The properties of a font.
typedef struct {
  /// Family and style, UTF-8, cut to the length of the field.
  char family[64];
  char style[64];
  uint32_t glyph_count;
  /// The distances from the baseline, in font sizes; descent is positive below the baseline.
  float ascent, descent, line_gap;
  /// Whether the font has pictures in colour.
  int has_color;
  /// Whether glyphs have outlines.
  int is_scalable;
} ctext_info;

/// A glyph at its place in a run of text.
typedef struct {
  uint32_t glyph;
  /// The position of its first character in the text.
  uint32_t cluster;
  int32_t advance, x_offset, y_offset;
  /// The distances of its ink from the baseline, positive above and below it.
  int32_t ascent, descent;
} ctext_glyph;

/// A glyph's coverage or picture.
typedef struct {
  /// The distances of the top left pixel from the glyph's origin, in pixels; `top` is positive
  /// above the baseline.
  int32_t left, top;
  int32_t width, height;
  /// Coverage, one byte a pixel; or premultiplied red, green, blue and alpha. Rows without padding.
  int32_t is_color;
  /// The pixels of the layers that a picture is rendered from; 0 for a picture without layers.
  int64_t layer_pixels;
  uint8_t *_Nullable pixels;
} ctext_bitmap;

typedef enum {
  CTEXT_OK = 0,
  /// The font is damaged or has an unsupported form.
  CTEXT_ERROR_FONT = -1,
  /// There is not enough memory.
  CTEXT_ERROR_MEMORY = -2,
  /// A limit is exceeded.
  CTEXT_ERROR_LIMIT = -3,
} ctext_result;

/// Opens a font. The bytes must not change until the face is closed.
///
/// - `index`: The number of the font in a collection.
/// - `error`: Receives the reason if the result is null: a clause, cut to `capacity` bytes.
ctext_face *_Nullable ctext_face_open(
    const uint8_t *_Nonnull bytes, size_t count, int index, char *_Nonnull error, size_t capacity);
void ctext_face_close(ctext_face *_Nonnull face);
void ctext_face_describe(ctext_face *_Nonnull face, ctext_info *_Nonnull info);

/// Returns the size of the bitmaps that are rendered for a size; 0 if the font has outlines.
int ctext_strike_size(ctext_face *_Nonnull face, int size);

/// Whether the font has a glyph for a character.
int ctext_face_has(ctext_face *_Nonnull face, uint32_t character);

/// Shapes a part of a text, which has one direction and one script.
///
/// - `size`: The font size in 1/64 pixel.
/// - `script`: The script's four letters in ISO 15924, big endian.
/// - `tabular`: Whether all digits have the same width.
/// - Returns: The number of glyphs, from left to right, or a `ctext_result`.
int ctext_shape(
    ctext_face *_Nonnull face, int size, const uint32_t *_Nonnull text, int length, int start,
    int count, int is_rtl, uint32_t script, int tabular, ctext_glyph *_Nonnull glyphs,
    int capacity);

/// Renders a glyph.
///
/// - `size`: The font size in 1/64 pixel.
/// - `x`, `y`: The fraction of the position, 0 to 63; y is upwards.
/// - `stroke`: The distance of the outline's edge from the glyph's; 0 renders the glyph itself.
/// - `max_pixels`: The maximum number of pixels.
/// - `bitmap`: Receives the pixels, which `ctext_bitmap_free` frees. Without pixels if the glyph is
///   blank.
ctext_result ctext_render(
    ctext_face *_Nonnull face, int size, uint32_t glyph, int x, int y, int stroke,
    size_t max_pixels, ctext_bitmap *_Nonnull bitmap);
void ctext_bitmap_free(ctext_bitmap *_Nonnull bitmap);

/// Returns the script of a character; its four letters in ISO 15924, big endian.
uint32_t ctext_script(uint32_t character);

/// Computes the embedding levels of a paragraph by using the Unicode bidirectional algorithm: even
/// levels run from left to right.
///
/// - `is_rtl`: The paragraph's direction, by its first strong character; left to right by default.
ctext_result ctext_levels(
    const uint32_t *_Nonnull text, int count, int8_t *_Nonnull levels, int *_Nonnull is_rtl);

/// A picture of premultiplied red, green, blue and alpha, or a mask of one byte per pixel. Rows
/// without padding.
typedef struct {
  int32_t width, height;
  uint8_t *_Nonnull pixels;
} ctext_picture;

/// Adds coverage to a mask: m + b - m b. Parts outside the mask are ignored.
void ctext_mask_add(
    ctext_picture mask, const ctext_bitmap *_Nonnull bitmap, int32_t x, int32_t y);
/// Blurs a mask by using three boxes. Their variances add up to about the variance of a Gaussian of
/// `sigma` pixels.
ctext_result ctext_mask_blur(ctext_picture mask, double sigma);
/// Draws a colour through a mask: c m + p (1 - ca m), c premultiplied. The mask is displaced by
/// whole pixels.
void ctext_draw_mask(
    ctext_picture picture, ctext_picture mask, int32_t x, int32_t y, const float color[_Nonnull 4]);
/// Draws a picture, scaled: a pixel is the mean of the area it covers.
///
/// - `mask`: Receives the coverage; may be null.
void ctext_draw_bitmap(
    ctext_picture picture, const ctext_picture *_Nullable mask,
    const ctext_bitmap *_Nonnull bitmap, double x, double y, double width, double height,
    float opacity);
/// Draws a rectangle with round corners.
void ctext_draw_box(
    ctext_picture picture, double left, double top, double right, double bottom, double radius,
    const float color[_Nonnull 4]);

#endif
