#ifndef SIDELIGHT_CPNG_H
#define SIDELIGHT_CPNG_H

#include <png.h>

/// Returns the maximum size of a PNG of the image in bytes. libpng has only a macro, which Swift
/// cannot call.
static inline size_t sidelight_png_size_max(const png_image *image) {
  return PNG_IMAGE_PNG_SIZE_MAX(*image);
}

#endif
