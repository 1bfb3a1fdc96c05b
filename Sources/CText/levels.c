#include <fribidi.h>
#include <stdlib.h>

#include "CText.h"

ctext_result ctext_levels(const uint32_t *text, int count, int8_t *levels, int *is_rtl) {
  *is_rtl = 0;
  if (count <= 0) return CTEXT_OK;
  FriBidiCharType *types = malloc((size_t)count * sizeof(FriBidiCharType));
  FriBidiBracketType *brackets = malloc((size_t)count * sizeof(FriBidiBracketType));
  ctext_result result = CTEXT_ERROR_MEMORY;
  if (types && brackets) {
    FriBidiParType direction = FRIBIDI_PAR_ON;
    fribidi_get_bidi_types(text, count, types);
    fribidi_get_bracket_types(text, count, types, brackets);
    if (fribidi_get_par_embedding_levels_ex(
            types, brackets, count, &direction, (FriBidiLevel *)levels) > 0) {
      *is_rtl = FRIBIDI_IS_RTL(direction) != 0;
      result = CTEXT_OK;
    }
  }
  free(types);
  free(brackets);
  return result;
}
