#include "face.h"

#include <hb-ot.h>
#include <stdlib.h>
#include <string.h>

#include FT_ERRORS_H
#include FT_MODULE_H

/// FreeType's memory limit for a face, in bytes. A picture of 2560 by 2400 pixels needs 49 MB while
/// layers are combined.
static const size_t max_memory = (size_t)64 << 20;

/// The size of a block of memory, in front of it.
typedef union {
  size_t size;
  max_align_t alignment;
} block_header;

static void *resize_block(face_memory *memory, block_header *header, long size) {
  const size_t old = header ? header->size : 0;
  if (size <= 0 || (size_t)size > max_memory - (memory->size - old)) return NULL;
  block_header *block = realloc(header, sizeof(block_header) + (size_t)size);
  if (!block) return NULL;
  block->size = (size_t)size;
  memory->size += (size_t)size - old;
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
  ((face_memory *)memory->user)->size -= header->size;
  free(header);
}

static void init_memory(face_memory *memory) {
  memory->functions = (struct FT_MemoryRec_){memory, allocate_block, free_block, reallocate_block};
  memory->size = 0;
}

/// The maximum number of units per em of a font.
enum { MAX_UNITS = 16384 };

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
  init_memory(&face->memory);
  FT_Error status = FT_New_Library(&face->memory.functions, &face->library);
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
