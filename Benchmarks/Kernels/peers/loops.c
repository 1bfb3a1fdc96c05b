// memcpy, and chains of filters as a C programmer would write them by hand: one plain loop that the
// compiler vectorises, compiled -O3 -march=native -ffast-math.
#include "peer.h"

#include <math.h>

/// The number of rows that a thread takes at a time.
enum { CHUNK = 45 };

static void copy(const uint8_t *in, uint8_t *out, int threads) {
  if (threads == 1) {
    memcpy(out, in, 4 * (size_t)PIXELS);
    return;
  }
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (int y = 0; y < HEIGHT; y += CHUNK) {
    memcpy(out + 4 * WIDTH * y, in + 4 * WIDTH * y, 4 * WIDTH * CHUNK);
  }
}

static inline float clamp1(float x) { return x < 0.0f ? 0.0f : x > 1.0f ? 1.0f : x; }

/// gammaAdjust(.8), glow(.6), and |2 p - 1|, a chain that does not fold. A table holds the powers of all 256 bytes.
static void chain_row(
    const uint8_t *restrict in, uint8_t *restrict out, const float *restrict power) {
  const uint32_t *restrict source = (const uint32_t *)in;
  uint32_t *restrict target = (uint32_t *)out;
  for (int i = 0; i < WIDTH; i++) {
    uint32_t p = source[i];
    float b = power[p & 255], g = power[p >> 8 & 255], r = power[p >> 16 & 255];
    float t = clamp1((0.2126f * r + 0.7152f * g + 0.0722f * b) * 2.0f - 1.0f);
    float amount = t * t * (3.0f - 2.0f * t) * 0.6f;
    r += (1.0f - r) * amount;
    g += (0.95f - g) * amount;
    b += (0.8f - b) * amount;
    r = clamp1(fabsf(2.0f * r - 1.0f)) * 255.0f + 0.5f;
    g = clamp1(fabsf(2.0f * g - 1.0f)) * 255.0f + 0.5f;
    b = clamp1(fabsf(2.0f * b - 1.0f)) * 255.0f + 0.5f;
    target[i] = (uint32_t)(int)b | (uint32_t)(int)g << 8 | (uint32_t)(int)r << 16 |
                (p & 0xff000000u);
  }
}

static void chain(const uint8_t *in, uint8_t *out, int threads) {
  float power[256];
  for (int i = 0; i < 256; i++) power[i] = powf((float)i / 255.0f, 0.8f);
#pragma omp parallel for schedule(dynamic, CHUNK) num_threads(threads) if (threads > 1)
  for (int y = 0; y < HEIGHT; y++) chain_row(in + 4 * WIDTH * y, out + 4 * WIDTH * y, power);
}

/// glow(.6).
static void glow_row(const uint8_t *restrict in, uint8_t *restrict out) {
  const uint32_t *restrict source = (const uint32_t *)in;
  uint32_t *restrict target = (uint32_t *)out;
  for (int i = 0; i < WIDTH; i++) {
    uint32_t p = source[i];
    float b = (float)(p & 255), g = (float)(p >> 8 & 255), r = (float)(p >> 16 & 255);
    float t = clamp1((0.2126f * r + 0.7152f * g + 0.0722f * b) * (2.0f / 255.0f) - 1.0f);
    float amount = t * t * (3.0f - 2.0f * t) * 0.6f;
    r += (255.0f - r) * amount + 0.5f;
    g += (242.25f - g) * amount + 0.5f;
    b += (204.0f - b) * amount + 0.5f;
    target[i] = (uint32_t)(int)b | (uint32_t)(int)g << 8 | (uint32_t)(int)r << 16 |
                (p & 0xff000000u);
  }
}

static void glow(const uint8_t *in, uint8_t *out, int threads) {
#pragma omp parallel for schedule(dynamic, CHUNK) num_threads(threads) if (threads > 1)
  for (int y = 0; y < HEIGHT; y++) glow_row(in + 4 * WIDTH * y, out + 4 * WIDTH * y);
}

int main(int argc, char **argv) {
  const work works[] = {
      {"memcpy", "bgra", 4 * PIXELS, "memcpy", copy},
      {"chain", "bgra", 4 * PIXELS, "one vectorised loop, powers from a table, OpenMP", chain},
      {"glow", "bgra", 4 * PIXELS, "one vectorised loop, OpenMP", glow},
      {"kernel-glow", "bgra", 4 * PIXELS, "one vectorised loop, OpenMP", glow},
  };
  return argc < 2 ? 2 : serve("C, " __VERSION__, works, 4, argv[1]);
}
