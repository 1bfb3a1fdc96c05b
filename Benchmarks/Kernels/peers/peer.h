// The common part of the peers in C: rings of frames, the clock, and a line-by-line protocol
// (see peers/peer.py).
#pragma once

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WIDTH = 1920, HEIGHT = 1080, PIXELS = WIDTH * HEIGHT, RING = 24 };

/// One kind of work.
typedef struct work {
  const char *key;
  /// The input format: bgra, i420, nv12.
  const char *format;
  /// The size of the output in bytes.
  size_t bytes;
  /// A short description of the operation.
  const char *says;
  void (*run)(const uint8_t *in, uint8_t *out, int threads);
} work;

/// Answers the driver's requests until its input ends.
int serve(const char *name, const work *works, int count, const char *pictures);

/// Returns the time: the clock, or for one thread the process's processor time.
static inline double now_ms(int threads) {
  struct timespec time;
  clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static inline size_t frame_bytes(const char *format) {
  return strcmp(format, "bgra") == 0 ? 4 * (size_t)PIXELS : (size_t)PIXELS * 3 / 2;
}

/// Returns the picture in a format, RING times; reads it once.
static inline uint8_t *pictures_of(const char *format, const char *folder) {
  static struct { const char *format; uint8_t *frames; } known[4];
  int slot = 0;
  while (known[slot].format != NULL && strcmp(known[slot].format, format) != 0) slot++;
  if (known[slot].format != NULL) return known[slot].frames;
  size_t bytes = frame_bytes(format);
  uint8_t *frames = aligned_alloc(64, bytes * RING);
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.raw", folder, format);
  FILE *file = fopen(path, "rb");
  if (file == NULL || fread(frames, 1, bytes, file) != bytes) exit(1);
  fclose(file);
  for (int i = 1; i < RING; i++) memcpy(frames + (size_t)i * bytes, frames, bytes);
  known[slot].format = format;
  known[slot].frames = frames;
  return frames;
}
