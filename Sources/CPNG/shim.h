#ifndef SIDELIGHT_CPNG_H
#define SIDELIGHT_CPNG_H

#include <png.h>

/// The most bytes that a PNG of the image can have: libpng states it as a macro, which Swift cannot
/// see.
static inline size_t sidelight_png_size_max(const png_image *image) {
  return PNG_IMAGE_PNG_SIZE_MAX(*image);
}

#endif
