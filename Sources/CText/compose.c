#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "CText.h"

/// Returns x / 255, rounded, for 0 to 65025.
static inline uint32_t divided(uint32_t x) { return (x + 128 + ((x + 128) >> 8)) >> 8; }

static inline int32_t clamped(int64_t value, int32_t low, int32_t high) {
  return value < low ? low : value > high ? high : (int32_t)value;
}

/// Returns c + p (1 - ca), rounded; all premultiplied, 0 to 255.
static inline void draw_over(uint8_t *pixel, const float color[4], float coverage) {
  const float keep = 1 - color[3] * coverage;
  for (int i = 0; i < 4; i++) {
    const float value = 255 * color[i] * coverage + (float)pixel[i] * keep + 0.5f;
    pixel[i] = (uint8_t)(value < 255 ? value : 255);
  }
}

void ctext_mask_add(ctext_picture mask, const ctext_bitmap *bitmap, int32_t x, int32_t y) {
  if (!bitmap->pixels || bitmap->is_color) return;
  const int32_t top = clamped(-(int64_t)y, 0, bitmap->height);
  const int32_t bottom = clamped((int64_t)mask.height - y, 0, bitmap->height);
  const int32_t left = clamped(-(int64_t)x, 0, bitmap->width);
  const int32_t right = clamped((int64_t)mask.width - x, 0, bitmap->width);
  for (int32_t row = top; row < bottom; row++) {
    const uint8_t *in = bitmap->pixels + (ptrdiff_t)row * bitmap->width;
    uint8_t *out = mask.pixels + (ptrdiff_t)(row + y) * mask.width + x;
    for (int32_t column = left; column < right; column++) {
      const uint32_t have = out[column], add = in[column];
      out[column] = (uint8_t)(have + divided(add * (255 - have)));
    }
  }
}

/// Replaces lines of samples by the means of 2 `radius` + 1 samples, 0 beyond the ends.
static void box(
    const uint8_t *in, uint8_t *out, int32_t length, int32_t lines, ptrdiff_t step,
    ptrdiff_t line_step, int32_t radius) {
  const uint32_t count = 2 * (uint32_t)radius + 1;
  const uint32_t factor = (1u << 24) / count;
  for (int32_t line = 0; line < lines; line++) {
    const uint8_t *from = in + line * line_step;
    uint8_t *to = out + line * line_step;
    uint32_t sum = 0;
    for (int32_t i = 0; i < radius && i < length; i++) sum += from[i * step];
    for (int32_t i = 0; i < length; i++) {
      if (i + radius < length) sum += from[(ptrdiff_t)(i + radius) * step];
      if (i - radius - 1 >= 0) sum -= from[(ptrdiff_t)(i - radius - 1) * step];
      to[i * step] = (uint8_t)(((uint64_t)sum * factor + (1u << 23)) >> 24);
    }
  }
}

ctext_result ctext_mask_blur(ctext_picture mask, double sigma) {
  // The variance of a box of radius r is r (r + 1) / 3.
  const int32_t radius = (int32_t)lround((sqrt(1 + 4 * sigma * sigma) - 1) / 2);
  if (radius <= 0) return CTEXT_OK;
  const size_t count = (size_t)mask.width * (size_t)mask.height;
  uint8_t *other = malloc(count);
  if (!other) return CTEXT_ERROR_MEMORY;
  for (int pass = 0; pass < 3; pass++) {
    box(mask.pixels, other, mask.width, mask.height, 1, mask.width, radius);
    box(other, mask.pixels, mask.height, mask.width, mask.width, 1, radius);
  }
  free(other);
  return CTEXT_OK;
}

void ctext_draw_mask(
    ctext_picture picture, ctext_picture mask, int32_t x, int32_t y, const float color[4]) {
  const int32_t top = clamped(-(int64_t)y, 0, mask.height);
  const int32_t bottom = clamped((int64_t)picture.height - y, 0, mask.height);
  const int32_t left = clamped(-(int64_t)x, 0, mask.width);
  const int32_t right = clamped((int64_t)picture.width - x, 0, mask.width);
  for (int32_t row = top; row < bottom; row++) {
    const uint8_t *in = mask.pixels + (ptrdiff_t)row * mask.width;
    uint8_t *out = picture.pixels + 4 * ((ptrdiff_t)(row + y) * picture.width + x);
    for (int32_t column = left; column < right; column++) {
      if (in[column]) draw_over(out + 4 * (ptrdiff_t)column, color, (float)in[column] / 255);
    }
  }
}

/// Returns the mean of a bitmap's area, premultiplied, 0 to 1.
static void mean(
    const ctext_bitmap *bitmap, double left, double top, double right, double bottom,
    float result[4]) {
  double sums[4] = {0};
  const int32_t first_row = clamped((int64_t)floor(top), 0, bitmap->height);
  const int32_t last_row = clamped((int64_t)ceil(bottom), 0, bitmap->height);
  const int32_t first = clamped((int64_t)floor(left), 0, bitmap->width);
  const int32_t last = clamped((int64_t)ceil(right), 0, bitmap->width);
  for (int32_t y = first_row; y < last_row; y++) {
    const double high = fmin(bottom, y + 1) - fmax(top, y);
    for (int32_t x = first; x < last; x++) {
      const double area = high * (fmin(right, x + 1) - fmax(left, x));
      const uint8_t *pixel = bitmap->pixels + 4 * ((ptrdiff_t)y * bitmap->width + x);
      for (int i = 0; i < 4; i++) sums[i] += area * pixel[i];
    }
  }
  const double area = 255 * (right - left) * (bottom - top);
  for (int i = 0; i < 4; i++) result[i] = (float)(sums[i] / area);
}

void ctext_draw_bitmap(
    ctext_picture picture, const ctext_picture *mask, const ctext_bitmap *bitmap, double x,
    double y, double width, double height, float opacity) {
  if (!bitmap->pixels || !bitmap->is_color || !(width > 0) || !(height > 0)) return;
  const int32_t top = clamped((int64_t)floor(y), 0, picture.height);
  const int32_t bottom = clamped((int64_t)ceil(y + height), 0, picture.height);
  const int32_t left = clamped((int64_t)floor(x), 0, picture.width);
  const int32_t right = clamped((int64_t)ceil(x + width), 0, picture.width);
  const double across = bitmap->width / width, down = bitmap->height / height;
  for (int32_t row = top; row < bottom; row++) {
    for (int32_t column = left; column < right; column++) {
      // An area of at least one pixel of the bitmap interpolates linearly where the bitmap grows.
      const double wide = fmax(across, 1) / 2, high = fmax(down, 1) / 2;
      const double center_x = (column + 0.5 - x) * across, center_y = (row + 0.5 - y) * down;
      float color[4];
      mean(
          bitmap, center_x - wide, center_y - high, center_x + wide, center_y + high, color);
      if (mask) {
        uint8_t *covered = mask->pixels + (ptrdiff_t)row * mask->width + column;
        const uint32_t add = (uint32_t)(255 * color[3] + 0.5f);
        *covered = (uint8_t)(*covered + divided((add < 255 ? add : 255) * (255u - *covered)));
      } else {
        draw_over(
            picture.pixels + 4 * ((ptrdiff_t)row * picture.width + column), color, opacity);
      }
    }
  }
}

void ctext_draw_box(
    ctext_picture picture, double left, double top, double right, double bottom, double radius,
    const float color[4]) {
  const double wide = (right - left) / 2, high = (bottom - top) / 2;
  const double round = fmax(0, fmin(radius, fmin(wide, high)));
  const double center_x = left + wide, center_y = top + high;
  const int32_t first_row = clamped((int64_t)floor(top), 0, picture.height);
  const int32_t last_row = clamped((int64_t)ceil(bottom), 0, picture.height);
  const int32_t first = clamped((int64_t)floor(left), 0, picture.width);
  const int32_t last = clamped((int64_t)ceil(right), 0, picture.width);
  uint8_t inside[4] = {0};
  draw_over(inside, color, 1);
  for (int32_t y = first_row; y < last_row; y++) {
    for (int32_t x = first; x < last; x++) {
      // The distance of the pixel's centre from the edge, negative inside.
      const double dx = fabs(x + 0.5 - center_x) - (wide - round);
      const double dy = fabs(y + 0.5 - center_y) - (high - round);
      const double distance =
          (dx > 0 && dy > 0 ? sqrt(dx * dx + dy * dy) : dx > dy ? dx : dy) - round;
      const double coverage = fmin(fmax(0.5 - distance, 0), 1);
      uint8_t *pixel = picture.pixels + 4 * ((ptrdiff_t)y * picture.width + x);
      if (coverage == 1 && pixel[3] == 0)
        memcpy(pixel, inside, 4);
      else if (coverage > 0)
        draw_over(pixel, color, (float)coverage);
    }
  }
}
