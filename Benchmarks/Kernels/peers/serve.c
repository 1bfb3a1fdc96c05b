#include "peer.h"

/// Times frames for `budget` ms, at least two, and prints their times.
static void measure(
    const work *work, const uint8_t *source, uint8_t *target, int threads, int ring,
    double budget) {
  size_t bytes = frame_bytes(work->format);
  work->run(source, target, threads);
  double start = now_ms(0);
  printf("ok");
  for (int i = 0; i < 2 || (now_ms(0) - start < budget && i < 4000); i++) {
    size_t slot = (size_t)(i % ring);
    double before = now_ms(threads);
    work->run(source + slot * bytes, target + slot * work->bytes, threads);
    printf(" %.4f", now_ms(threads) - before);
  }
  printf("\n");
}

int serve(const char *name, const work *works, int count, const char *pictures) {
  uint8_t *target = aligned_alloc(64, 4 * (size_t)PIXELS * RING);
  memset(target, 1, 4 * (size_t)PIXELS * RING);
  char line[4096], verb[16], key[64], path[4000];
  int threads, ring;
  double budget;
  while (fgets(line, sizeof line, stdin) != NULL) {
    const work *found = NULL;
    if (sscanf(line, "%15s %63s", verb, key) < 1) continue;
    for (int i = 0; i < count; i++) {
      if (strcmp(works[i].key, key) == 0) found = &works[i];
    }
    if (strcmp(verb, "hello") == 0) {
      printf("ok %s\n", name);
    } else if (found == NULL) {
      printf("skip\n");
    } else if (strcmp(verb, "says") == 0) {
      printf("ok %s\n", found->says);
    } else if (sscanf(line, "time %*s %d %d %lf", &threads, &ring, &budget) == 3) {
      measure(found, pictures_of(found->format, pictures), target, threads, ring, budget);
    } else if (sscanf(line, "result %*s %3999s", path) == 1) {
      found->run(pictures_of(found->format, pictures), target, 1);
      FILE *file = fopen(path, "wb");
      fwrite(target, 1, found->bytes, file);
      fclose(file);
      printf("ok\n");
    }
    fflush(stdout);
  }
  return 0;
}
