// Copyright the Sidelight authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <sidelight/v1/image.pb.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace sidelight {

/// Returns the size of a raw picture without padding, in bytes; 0 for files.
inline std::size_t packed_size(v1::PixelFormat format, std::uint32_t width, std::uint32_t height) {
  const std::size_t pixels = std::size_t{width} * height;
  const std::size_t chroma = ((std::size_t{width} + 1) / 2) * ((std::size_t{height} + 1) / 2);
  switch (format) {
    case v1::PIXEL_FORMAT_BGRA8:
    case v1::PIXEL_FORMAT_RGBA8: return 4 * pixels;
    case v1::PIXEL_FORMAT_RGB24: return 3 * pixels;
    case v1::PIXEL_FORMAT_GRAY8: return pixels;
    case v1::PIXEL_FORMAT_I420:
    case v1::PIXEL_FORMAT_NV12: return pixels + 2 * chroma;
    default: return 0;
  }
}

/// Makes a raw picture whose planes follow each other without padding. The pixels are moved.
///
/// Throws `std::invalid_argument` if the number of bytes does not fit.
inline v1::Image make_image(v1::PixelFormat format, std::uint32_t width, std::uint32_t height,
                            std::string pixels) {
  const auto size = packed_size(format, width, height);
  if (pixels.size() != size) {
    throw std::invalid_argument("pixels has " + std::to_string(pixels.size()) +
                                " bytes; a picture of " + std::to_string(width) + "x" +
                                std::to_string(height) + " in this format has " +
                                std::to_string(size));
  }
  v1::Image image;
  image.set_format(format);
  image.set_width(width);
  image.set_height(height);
  image.set_inline_(std::move(pixels));
  return image;
}

}  // namespace sidelight
