#include <ft2build.h>
#include <hb-ot.h>
#include <hb.h>
#include <stdlib.h>
#include <string.h>

#include FT_FREETYPE_H
#include FT_COLOR_H
#include FT_GLYPH_H
#include FT_MODULE_H
#include FT_OUTLINE_H
#include FT_STROKER_H
#include FT_ERRORS_H

#include "CText.h"

/// The most points of a glyph's outline. FreeType's stroker takes longer than linear time.
enum { MAX_POINTS = 4096 };
/// The most glyphs of a font, and its longest side in font units.
enum { MAX_UNITS = 16384 };
/// The characters that are shaped at once.
enum { MAX_SHAPED = 4096 };
/// The most layers of a picture.
enum { MAX_LAYERS = 64 };
/// The most memory that FreeType has for a face, in bytes. A picture of 2560 by 2400 pixels needs
/// 49 MB while layers are combined.
static const size_t max_memory = (size_t)64 << 20;

struct ctext_face {
  /// FreeType's functions of memory, and the bytes that it has.
  struct FT_MemoryRec_ memory;
  size_t memory_size;
  FT_Library library;
  FT_Face face;
  hb_blob_t *blob;
  hb_face_t *shaping_face;
  hb_font_t *font;
  hb_buffer_t *buffer;
  FT_Stroker stroker;
};

static const char *reason(FT_Error error) {
  const char *text = FT_Error_String(error);
  if (text) return text;
  switch (FT_ERROR_BASE(error)) {
    case FT_Err_Unknown_File_Format: return "it is not a TrueType or OpenType font";
    case FT_Err_Invalid_File_Format: return "the file is damaged";
    case FT_Err_Out_Of_Memory: return "there is not enough memory";
    case FT_Err_Table_Missing:
    case FT_Err_Horiz_Header_Missing:
    case FT_Err_Locations_Missing:
    case FT_Err_Name_Table_Missing:
    case FT_Err_CMap_Table_Missing:
    case FT_Err_Hmtx_Table_Missing:
    case FT_Err_Post_Table_Missing: return "a required table is missing";
    default: return "its tables are damaged";
  }
}

/// The size of a block of memory, in front of it.
typedef union {
  size_t size;
  max_align_t alignment;
} block_header;

static void *resize_block(ctext_face *face, block_header *header, long size) {
  const size_t old = header ? header->size : 0;
  if (size <= 0 || (size_t)size > max_memory - (face->memory_size - old)) return NULL;
  block_header *block = realloc(header, sizeof(block_header) + (size_t)size);
  if (!block) return NULL;
  block->size = (size_t)size;
  face->memory_size += (size_t)size - old;
  return block + 1;
}

static void *allocate_block(FT_Memory memory, long size) {
  return resize_block(memory->user, NULL, size);
}

static void *reallocate_block(FT_Memory memory, long old_size, long size, void *block) {
  (void)old_size;
  return resize_block(memory->user, block ? (block_header *)block - 1 : NULL, size);
}

static void free_block(FT_Memory memory, void *block) {
  if (!block) return;
  block_header *header = (block_header *)block - 1;
  ((ctext_face *)memory->user)->memory_size -= header->size;
  free(header);
}

static ctext_face *failed(ctext_face *face, const char *text, char *error, size_t capacity) {
  if (capacity > 0) {
    strncpy(error, text, capacity - 1);
    error[capacity - 1] = 0;
  }
  ctext_face_close(face);
  return NULL;
}

ctext_face *ctext_face_open(
    const uint8_t *bytes, size_t count, int index, char *error, size_t capacity) {
  ctext_face *face = calloc(1, sizeof(ctext_face));
  if (!face) return failed(NULL, "there is not enough memory", error, capacity);
  face->memory = (struct FT_MemoryRec_){face, allocate_block, free_block, reallocate_block};
  FT_Error status = FT_New_Library(&face->memory, &face->library);
  if (status) return failed(face, "FreeType cannot be initialised", error, capacity);
  FT_Add_Default_Modules(face->library);
  FT_Set_Default_Properties(face->library);
  status = FT_New_Memory_Face(face->library, bytes, (FT_Long)count, index, &face->face);
  if (status) return failed(face, reason(status), error, capacity);
  if (!FT_IS_SFNT(face->face))
    return failed(face, "it is not a TrueType or OpenType font", error, capacity);
  if (!FT_IS_SCALABLE(face->face) && face->face->num_fixed_sizes == 0)
    return failed(face, "it has no outlines and no bitmaps", error, capacity);
  if (FT_Select_Charmap(face->face, FT_ENCODING_UNICODE))
    return failed(face, "it has no Unicode character map", error, capacity);
  if (FT_IS_SCALABLE(face->face)
      && (face->face->units_per_EM < 16 || face->face->units_per_EM > MAX_UNITS))
    return failed(face, "its units per em are outside 16 to 16384", error, capacity);
  if (FT_Stroker_New(face->library, &face->stroker))
    return failed(face, "there is not enough memory", error, capacity);
  face->blob =
      hb_blob_create((const char *)bytes, (unsigned)count, HB_MEMORY_MODE_READONLY, NULL, NULL);
  face->shaping_face = hb_face_create(face->blob, (unsigned)index);
  face->font = hb_font_create(face->shaping_face);
  face->buffer = hb_buffer_create();
  if (hb_face_get_glyph_count(face->shaping_face) == 0)
    return failed(face, "it has no glyphs", error, capacity);
  return face;
}

void ctext_face_close(ctext_face *face) {
  if (!face) return;
  if (face->buffer) hb_buffer_destroy(face->buffer);
  if (face->font) hb_font_destroy(face->font);
  if (face->shaping_face) hb_face_destroy(face->shaping_face);
  if (face->blob) hb_blob_destroy(face->blob);
  if (face->stroker) FT_Stroker_Done(face->stroker);
  if (face->face) FT_Done_Face(face->face);
  if (face->library) FT_Done_Library(face->library);
  free(face);
}

static void copy_name(char *to, const char *from) {
  strncpy(to, from ? from : "", 63);
  to[63] = 0;
}

void ctext_face_describe(ctext_face *face, ctext_info *info) {
  memset(info, 0, sizeof(*info));
  copy_name(info->family, face->face->family_name);
  copy_name(info->style, face->face->style_name);
  info->glyph_count = (uint32_t)face->face->num_glyphs;
  info->has_color = FT_HAS_COLOR(face->face) != 0;
  info->is_scalable = FT_IS_SCALABLE(face->face) != 0;
  hb_font_extents_t extents;
  const int scale = 1 << 16;
  hb_font_set_scale(face->font, scale, scale);
  if (hb_font_get_h_extents(face->font, &extents)) {
    info->ascent = (float)extents.ascender / scale;
    info->descent = (float)-extents.descender / scale;
    info->line_gap = (float)extents.line_gap / scale;
  }
}

int ctext_face_has(ctext_face *face, uint32_t character) {
  hb_codepoint_t glyph;
  return hb_font_get_nominal_glyph(face->font, character, &glyph) != 0;
}

static int32_t bounded(int32_t value, int32_t bound) {
  return value < -bound ? -bound : value > bound ? bound : value;
}

int ctext_shape(
    ctext_face *face, int size, const uint32_t *text, int length, int start, int count, int is_rtl,
    uint32_t script, int tabular, ctext_glyph *glyphs, int capacity) {
  if (count <= 0) return 0;
  if (length > MAX_SHAPED) return CTEXT_ERROR_LIMIT;
  hb_buffer_t *buffer = face->buffer;
  hb_buffer_clear_contents(buffer);
  hb_buffer_add_utf32(buffer, text, length, (unsigned)start, count);
  hb_buffer_set_direction(buffer, is_rtl ? HB_DIRECTION_RTL : HB_DIRECTION_LTR);
  hb_buffer_set_script(buffer, hb_script_from_iso15924_tag(script));
  hb_buffer_set_cluster_level(buffer, HB_BUFFER_CLUSTER_LEVEL_MONOTONE_GRAPHEMES);
  // Control characters of the bidirectional algorithm have no glyphs.
  hb_buffer_set_flags(buffer, HB_BUFFER_FLAG_REMOVE_DEFAULT_IGNORABLES);
  hb_font_set_scale(face->font, size, size);
  hb_feature_t feature = {HB_TAG('t', 'n', 'u', 'm'), 1, 0, (unsigned)-1};
  hb_shape(face->font, buffer, &feature, tabular ? 1 : 0);
  if (!hb_buffer_allocation_successful(buffer)) return CTEXT_ERROR_LIMIT;
  unsigned n = 0;
  const hb_glyph_info_t *infos = hb_buffer_get_glyph_infos(buffer, &n);
  const hb_glyph_position_t *positions = hb_buffer_get_glyph_positions(buffer, NULL);
  if (n > (unsigned)capacity) return CTEXT_ERROR_LIMIT;
  // A damaged font may have any numbers.
  const int32_t bound = 16 * size;
  for (unsigned i = 0; i < n; i++) {
    ctext_glyph *glyph = &glyphs[i];
    glyph->glyph = infos[i].codepoint;
    glyph->cluster = infos[i].cluster;
    glyph->advance = positions[i].x_advance;
    glyph->x_offset = positions[i].x_offset;
    glyph->y_offset = positions[i].y_offset;
    glyph->ascent = glyph->descent = 0;
    if (glyph->advance < -bound || glyph->advance > bound || glyph->x_offset < -bound
        || glyph->x_offset > bound || glyph->y_offset < -bound || glyph->y_offset > bound)
      return CTEXT_ERROR_FONT;
    hb_glyph_extents_t extents;
    if (!hb_font_get_glyph_extents(face->font, glyph->glyph, &extents)) continue;
    glyph->ascent = bounded(extents.y_bearing, bound) + glyph->y_offset;
    glyph->descent = -bounded(extents.y_bearing, bound) - bounded(extents.height, bound)
        - glyph->y_offset;
  }
  return (int)n;
}

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

/// The result for a glyph that FreeType does not load: a glyph without a shape is blank.
static ctext_result load_failure(FT_Error error) {
  return FT_ERROR_BASE(error) == FT_Err_Out_Of_Memory ? CTEXT_ERROR_LIMIT : CTEXT_OK;
}

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

/// The pixels of bounds in 1/64 pixel.
static size_t box_pixels(const FT_BBox *box, int stroke) {
  const FT_Pos wide = (box->xMax - box->xMin + 2 * stroke) / 64 + 2;
  const FT_Pos high = (box->yMax - box->yMin + 2 * stroke) / 64 + 2;
  return (size_t)wide * (size_t)high;
}

/// Whether an outline is small enough to be rendered.
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

/// Whether the layers of a picture are few and small enough to be rendered.
///
/// - `flags`: The flags with which layers are loaded.
/// - `pixels`: Receives the pixels of all layers; 0 if the glyph has none.
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
    result = copy_bitmap(&rendered->bitmap, rendered->left, rendered->top, max_pixels, bitmap);
  }
  FT_Done_Glyph(outline);
  return result;
}

void ctext_bitmap_free(ctext_bitmap *bitmap) {
  free(bitmap->pixels);
  bitmap->pixels = NULL;
}

uint32_t ctext_script(uint32_t character) {
  return hb_script_to_iso15924_tag(
      hb_unicode_script(hb_unicode_funcs_get_default(), character));
}
