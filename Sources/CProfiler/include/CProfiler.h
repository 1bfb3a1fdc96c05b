// Profiles of this process's processor time and memory. Linux on x86-64 and arm64 only: elsewhere
// sampling fails with ENOSYS, and cprofiler_heaps returns NULL.
#ifndef CPROFILER_H
#define CPROFILER_H

#include <stddef.h>
#include <stdint.h>

/// The samples that there is room for. Later ones are left out.
#define CPROFILER_MAX_SAMPLES 30000

/// Starts sampling call stacks, one per `period_us` of processor time.
///
/// Functions without frame pointers hide their callers. Returns 0, or a negative errno value: -EBUSY
/// if it has started.
int cprofiler_start(unsigned period_us);

/// Ends sampling, and stores the number of words.
///
/// A sample is 1, the number of addresses, and the addresses, beginning with the innermost function.
/// The caller frees the words. Returns NULL without memory.
uint64_t *cprofiler_stop(size_t *word_count);

/// Returns the allocator's heaps as XML, which the caller frees; NULL on failure.
char *cprofiler_heaps(void);

#endif
