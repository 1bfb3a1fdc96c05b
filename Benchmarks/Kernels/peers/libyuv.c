// Conversions by libyuv, which selects the widest instructions it supports and has no threads.
#include "peer.h"

#include <libyuv.h>

static void i420_to_bgra(const uint8_t *in, uint8_t *out, int threads) {
  (void)threads;
  const uint8_t *u = in + PIXELS, *v = u + PIXELS / 4;
  I420ToARGB(in, WIDTH, u, WIDTH / 2, v, WIDTH / 2, out, 4 * WIDTH, WIDTH, HEIGHT);
}

static void bgra_to_i420(const uint8_t *in, uint8_t *out, int threads) {
  (void)threads;
  uint8_t *u = out + PIXELS, *v = u + PIXELS / 4;
  ARGBToI420(in, 4 * WIDTH, out, WIDTH, u, WIDTH / 2, v, WIDTH / 2, WIDTH, HEIGHT);
}

static void nv12_to_bgra(const uint8_t *in, uint8_t *out, int threads) {
  (void)threads;
  NV12ToARGB(in, WIDTH, in + PIXELS, WIDTH, out, 4 * WIDTH, WIDTH, HEIGHT);
}

static void bgra_to_nv12(const uint8_t *in, uint8_t *out, int threads) {
  (void)threads;
  ARGBToNV12(in, 4 * WIDTH, out, WIDTH, out + PIXELS, WIDTH, WIDTH, HEIGHT);
}

static void i420_to_nv12(const uint8_t *in, uint8_t *out, int threads) {
  (void)threads;
  const uint8_t *u = in + PIXELS, *v = u + PIXELS / 4;
  I420ToNV12(in, WIDTH, u, WIDTH / 2, v, WIDTH / 2, out, WIDTH, out + PIXELS, WIDTH, WIDTH, HEIGHT);
}

#define TEXT(x) #x
#define VERSION(x) TEXT(x)

int main(int argc, char **argv) {
  const work works[] = {
      {"i420-bgra", "i420", 4 * PIXELS, "I420ToARGB", i420_to_bgra},
      {"bgra-i420", "bgra", PIXELS * 3 / 2, "ARGBToI420", bgra_to_i420},
      {"nv12-bgra", "nv12", 4 * PIXELS, "NV12ToARGB", nv12_to_bgra},
      {"bgra-nv12", "bgra", PIXELS * 3 / 2, "ARGBToNV12", bgra_to_nv12},
      {"i420-nv12", "i420", PIXELS * 3 / 2, "I420ToNV12", i420_to_nv12},
  };
  return argc < 2 ? 2 : serve("libyuv " VERSION(LIBYUV_VERSION), works, 5, argv[1]);
}
