#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { region_count = 64, region_bytes = 1 << 18 };

static uint8_t *regions[region_count];

static uint8_t *region(int index) {
  if (regions[index] == NULL) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *memory = mmap(
        NULL, region_bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + page, region_bytes, PROT_READ | PROT_WRITE)) {
      perror("mmap");
      exit(2);
    }
    regions[index] = memory + page;
  }
  return regions[index];
}

void *allocate(run *run, size_t size, size_t alignment) {
  if (run->next_region == region_count || size + 64 * alignment > region_bytes) {
    fprintf(stderr, "a case needs more memory than the regions have\n");
    exit(2);
  }
  uint8_t *memory = region(run->next_region++);
  switch (run->placement) {
    case 0: return memory + region_bytes - size / alignment * alignment;
    case 1: return memory;
    default: return memory + (1 + random_bits(run) % 63) * alignment;
  }
}

uint32_t random_bits(run *run) {
  // xorshift64*
  run->random ^= run->random >> 12;
  run->random ^= run->random << 25;
  run->random ^= run->random >> 27;
  return (uint32_t)(run->random * 0x2545f4914f6cdd1du >> 32);
}

int32_t random_between(run *run, int32_t min, int32_t max) {
  return min + (int32_t)(random_bits(run) % (uint32_t)(max - min + 1));
}

// All processors must get the same numbers, so multiplication and addition are not fused.
float random_float(run *run, float min, float max) {
#pragma STDC FP_CONTRACT OFF
  return min + (max - min) * ((float)(random_bits(run) >> 8) / 16777216.0f);
}

uint8_t *random_u8(run *run, ptrdiff_t count) {
  uint8_t *bytes = allocate(run, (size_t)count, 1);
  for (ptrdiff_t i = 0; i < count; i++) bytes[i] = (uint8_t)random_bits(run);
  return bytes;
}

int16_t *random_i16(run *run, ptrdiff_t count, int32_t min, int32_t max) {
  int16_t *numbers = allocate(run, (size_t)count * 2, 2);
  for (ptrdiff_t i = 0; i < count; i++) numbers[i] = (int16_t)random_between(run, min, max);
  return numbers;
}

int32_t *random_i32(run *run, ptrdiff_t count, int32_t min, int32_t max) {
  int32_t *numbers = allocate(run, (size_t)count * 4, 4);
  for (ptrdiff_t i = 0; i < count; i++) numbers[i] = random_between(run, min, max);
  return numbers;
}

float *random_floats(run *run, ptrdiff_t count, float min, float max) {
  float *numbers = allocate(run, (size_t)count * 4, 4);
  for (ptrdiff_t i = 0; i < count; i++) numbers[i] = random_float(run, min, max);
  return numbers;
}

void *random_samples(run *run, ptrdiff_t count, int is_deep) {
  if (!is_deep) return random_u8(run, count);
  return random_i16(run, count, -2000, 10000);
}

uint8_t *copy_u8(run *run, const uint8_t *bytes, ptrdiff_t count) {
  return memcpy(allocate(run, (size_t)count, 1), bytes, (size_t)count);
}
