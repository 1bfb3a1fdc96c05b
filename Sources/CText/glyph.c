#include "face.h"

#include <stdlib.h>
#include <string.h>

#include FT_COLOR_H
#include FT_ERRORS_H
#include FT_GLYPH_H
#include FT_OUTLINE_H

/// The maximum number of points of a glyph's outline. FreeType's stroker takes longer than linear
/// time.
enum { MAX_POINTS = 4096 };
/// The maximum number of layers of a picture.
enum { MAX_LAYERS = 64 };

/// Copies FreeType's pixels.
static ctext_result copy_bitmap(
    const FT_Bitmap *from, int left, int top, size_t max_pixels, ctext_bitmap *to) {
  if (from->width == 0 || from->rows == 0) return CTEXT_OK;
  if ((size_t)from->width * from->rows > max_pixels) return CTEXT_ERROR_LIMIT;
  const int is_color = from->pixel_mode == FT_PIXEL_MODE_BGRA;
  if (!is_color && from->pixel_mode != FT_PIXEL_MODE_GRAY
      && from->pixel_mode != FT_PIXEL_MODE_MONO)
    return CTEXT_ERROR_FONT;
  const size_t row = (size_t)from->width * (is_color ? 4 : 1);
  uint8_t *pixels = malloc(row * from->rows);
  if (!pixels) return CTEXT_ERROR_MEMORY;
  for (unsigned y = 0; y < from->rows; y++) {
    const uint8_t *in = from->buffer + (ptrdiff_t)y * from->pitch;
    uint8_t *out = pixels + y * row;
    if (is_color) {
      for (unsigned x = 0; x < from->width; x++) {
        out[4 * x] = in[4 * x + 2];
        out[4 * x + 1] = in[4 * x + 1];
        out[4 * x + 2] = in[4 * x];
        out[4 * x + 3] = in[4 * x + 3];
      }
    } else if (from->pixel_mode == FT_PIXEL_MODE_MONO) {
      for (unsigned x = 0; x < from->width; x++)
        out[x] = in[x / 8] & (0x80 >> (x % 8)) ? 255 : 0;
    } else {
      memcpy(out, in, row);
    }
  }
  to->left = left;
  to->top = top;
  to->width = (int32_t)from->width;
  to->height = (int32_t)from->rows;
  to->is_color = is_color;
  to->pixels = pixels;
  return CTEXT_OK;
}

void ctext_bitmap_free(ctext_bitmap *bitmap) {
  free(bitmap->pixels);
  bitmap->pixels = NULL;
}

/// Returns the result for a glyph that FreeType does not load: a glyph without a shape is blank.
static ctext_result load_failure(FT_Error error) {
  return FT_ERROR_BASE(error) == FT_Err_Out_Of_Memory ? CTEXT_ERROR_LIMIT : CTEXT_OK;
}

/// Returns the pixels of bounds in 1/64 pixel, with a line of a width around them.
static size_t box_pixels(const FT_BBox *box, int stroke) {
  const FT_Pos wide = (box->xMax - box->xMin + 2 * stroke) / 64 + 2;
  const FT_Pos high = (box->yMax - box->yMin + 2 * stroke) / 64 + 2;
  return (size_t)wide * (size_t)high;
}

/// Checks whether an outline is small enough to be rendered.
///
/// - `box`: Receives the bounds of the points, in 1/64 pixel.
static ctext_result check_outline(
    const FT_Outline *outline, int size, int stroke, size_t max_pixels, FT_BBox *box) {
  if (outline->n_points > MAX_POINTS) return CTEXT_ERROR_LIMIT;
  FT_Outline_Get_CBox(outline, box);
  const FT_Pos bound = 16 * (FT_Pos)size;
  if (box->xMin < -bound || box->yMin < -bound || box->xMax > bound || box->yMax > bound)
    return CTEXT_ERROR_FONT;
  return box_pixels(box, stroke) > max_pixels ? CTEXT_ERROR_LIMIT : CTEXT_OK;
}

/// Returns the strike that is nearest above the size.
static int nearest_strike(FT_Face face, int size) {
  int best = 0;
  for (int i = 1; i < face->num_fixed_sizes; i++) {
    const FT_Pos have = face->available_sizes[best].y_ppem, next = face->available_sizes[i].y_ppem;
    if ((have < size && next > have) || (next >= size && next < have)) best = i;
  }
  return best;
}

int ctext_strike_size(ctext_face *face, int size) {
  if (FT_IS_SCALABLE(face->face)) return 0;
  return (int)face->face->available_sizes[nearest_strike(face->face, size)].y_ppem;
}

/// Renders a glyph of a font without outlines: a picture of the strike that is nearest to the size.
static ctext_result render_strike(
    ctext_face *face, int size, uint32_t glyph, size_t max_pixels, ctext_bitmap *bitmap) {
  if (FT_Select_Size(face->face, nearest_strike(face->face, size))) return CTEXT_ERROR_FONT;
  const FT_Int32 flags = FT_LOAD_COLOR | FT_LOAD_NO_HINTING;
  const FT_GlyphSlot slot = face->face->glyph;
  // The size first: a small file may have a large picture.
  FT_Error error = FT_Load_Glyph(face->face, glyph, flags | FT_LOAD_BITMAP_METRICS_ONLY);
  if (error) return load_failure(error);
  if (slot->format != FT_GLYPH_FORMAT_BITMAP) return CTEXT_OK;
  if ((size_t)slot->bitmap.width * slot->bitmap.rows > max_pixels) return CTEXT_ERROR_LIMIT;
  error = FT_Load_Glyph(face->face, glyph, flags);
  // A blank glyph would not count, although a part of the picture was read.
  if (error) return load_failure(error) == CTEXT_OK ? CTEXT_ERROR_FONT : CTEXT_ERROR_LIMIT;
  if (slot->format != FT_GLYPH_FORMAT_BITMAP) return CTEXT_OK;
  return copy_bitmap(
      &slot->bitmap, slot->bitmap_left, slot->bitmap_top, max_pixels, bitmap);
}

/// Checks whether the layers of a picture are few and small enough to be rendered. Loads all of
/// them into the face's slot.
///
/// - `flags`: The flags with which layers are loaded.
/// - `pixels`: Receives the pixels of all layers; 0 for a glyph without layers.
static ctext_result check_layers(
    ctext_face *face, int size, uint32_t glyph, FT_Int32 flags, size_t max_pixels,
    size_t *pixels) {
  const FT_GlyphSlot slot = face->face->glyph;
  FT_LayerIterator iterator = {0};
  FT_UInt layer, color;
  FT_BBox all = {0};
  size_t sum = 0;
  for (int count = 0; FT_Get_Color_Glyph_Layer(face->face, glyph, &layer, &color, &iterator);
       count++) {
    if (count == MAX_LAYERS) return CTEXT_ERROR_LIMIT;
    const FT_Error error = FT_Load_Glyph(face->face, layer, flags);
    if (error) return load_failure(error) == CTEXT_OK ? CTEXT_ERROR_FONT : CTEXT_ERROR_LIMIT;
    if (slot->format != FT_GLYPH_FORMAT_OUTLINE) return CTEXT_ERROR_FONT;
    FT_BBox box;
    const ctext_result checked = check_outline(&slot->outline, size, 0, max_pixels, &box);
    if (checked != CTEXT_OK) return checked;
    sum += box_pixels(&box, 0);
    if (box.xMin < all.xMin) all.xMin = box.xMin;
    if (box.yMin < all.yMin) all.yMin = box.yMin;
    if (box.xMax > all.xMax) all.xMax = box.xMax;
    if (box.yMax > all.yMax) all.yMax = box.yMax;
    if (sum > max_pixels || box_pixels(&all, 0) > max_pixels) return CTEXT_ERROR_LIMIT;
  }
  *pixels = sum;
  return CTEXT_OK;
}

ctext_result ctext_render(
    ctext_face *face, int size, uint32_t glyph, int x, int y, int stroke, size_t max_pixels,
    ctext_bitmap *bitmap) {
  memset(bitmap, 0, sizeof(*bitmap));
  if (!FT_IS_SCALABLE(face->face))
    return stroke > 0 ? CTEXT_OK : render_strike(face, size, glyph, max_pixels, bitmap);
  if (FT_Set_Char_Size(face->face, size, size, 72, 72)) return CTEXT_ERROR_FONT;
  // Without hinting: the programs of fonts are not run, and shapes do not depend on the position.
  const FT_Int32 flags = FT_LOAD_NO_HINTING | FT_LOAD_NO_BITMAP;
  FT_Error error = FT_Load_Glyph(face->face, glyph, flags);
  if (error) return load_failure(error);
  const FT_GlyphSlot slot = face->face->glyph;
  if (slot->format != FT_GLYPH_FORMAT_OUTLINE) return CTEXT_OK;
  FT_BBox box;
  ctext_result result = check_outline(&slot->outline, size, stroke, max_pixels, &box);
  if (result != CTEXT_OK) return result;
  if (stroke == 0) {
    size_t layer_pixels = 0;
    if (FT_HAS_COLOR(face->face)) {
      // FreeType renders all layers of a picture at once.
      result = check_layers(face, size, glyph, flags, max_pixels, &layer_pixels);
      if (result != CTEXT_OK) return result;
      error = FT_Load_Glyph(face->face, glyph, flags | FT_LOAD_COLOR);
      if (error) return load_failure(error);
    }
    bitmap->layer_pixels = (int64_t)layer_pixels;
    if (slot->format == FT_GLYPH_FORMAT_OUTLINE) FT_Outline_Translate(&slot->outline, x, y);
    if (FT_Render_Glyph(slot, FT_RENDER_MODE_NORMAL)) return CTEXT_ERROR_LIMIT;
    return copy_bitmap(
        &slot->bitmap, slot->bitmap_left, slot->bitmap_top, max_pixels, bitmap);
  }
  FT_Outline_Translate(&slot->outline, x, y);
  FT_Glyph outline;
  if (FT_Get_Glyph(slot, &outline)) return CTEXT_ERROR_MEMORY;
  FT_Stroker_Set(
      face->stroker, stroke, FT_STROKER_LINECAP_ROUND, FT_STROKER_LINEJOIN_ROUND, 0);
  result = CTEXT_ERROR_LIMIT;
  if (FT_Glyph_Stroke(&outline, face->stroker, 1) == 0
      && FT_Glyph_To_Bitmap(&outline, FT_RENDER_MODE_NORMAL, NULL, 1) == 0) {
    const FT_BitmapGlyph rendered = (FT_BitmapGlyph)outline;
    result = copy_bitmap(
        &rendered->bitmap, rendered->left, rendered->top, max_pixels, bitmap);
  }
  FT_Done_Glyph(outline);
  return result;
}
