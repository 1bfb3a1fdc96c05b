#ifndef CMALLOC_H
#define CMALLOC_H

#include <malloc.h>
#include <stddef.h>

/// Returns the number of allocated bytes, in heaps and in separate mappings. Waits for the locks of
/// the heaps, and reads their lists of free blocks: 2 ms for 10,000 blocks.
static inline size_t cmalloc_used_bytes(void) {
#if __GLIBC_PREREQ(2, 33)
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  // Its counters overflow at 4 GiB.
  struct mallinfo info = mallinfo();
  return (size_t)(unsigned)info.uordblks + (size_t)(unsigned)info.hblkhd;
#endif
}

#endif
