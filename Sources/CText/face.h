#ifndef SIDELIGHT_CTEXT_FACE_H
#define SIDELIGHT_CTEXT_FACE_H

#include <ft2build.h>
#include <hb.h>
#include <stddef.h>

#include FT_FREETYPE_H
#include FT_STROKER_H
#include FT_SYSTEM_H

#include "CText.h"

/// FreeType's memory for one face, with a limit.
typedef struct {
  /// FreeType's memory functions. `user` is this structure, which must not move.
  struct FT_MemoryRec_ functions;
  /// The number of bytes in use.
  size_t size;
} face_memory;

/// An opened font, and the objects that shape and render its glyphs.
struct ctext_face {
  face_memory memory;
  FT_Library library;
  FT_Face face;
  hb_blob_t *blob;
  hb_face_t *shaping_face;
  hb_font_t *font;
  hb_buffer_t *buffer;
  FT_Stroker stroker;
};

#endif
