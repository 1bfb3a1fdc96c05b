#include "face.h"

/// The characters that are shaped at once.
enum { MAX_SHAPED = 4096 };

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
  // Control characters of the bidirectional algorithm aren't drawn.
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

uint32_t ctext_script(uint32_t character) {
  return hb_script_to_iso15924_tag(
      hb_unicode_script(hb_unicode_funcs_get_default(), character));
}
