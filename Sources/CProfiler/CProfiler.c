#define _GNU_SOURCE
#include "CProfiler.h"

#include <errno.h>
#include <stdlib.h>

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#define MAX_DEPTH 62
#define MAX_SAMPLES CPROFILER_MAX_SAMPLES

struct sample {
  /// 0 until the sample is complete.
  _Atomic uint64_t depth;
  uint64_t addresses[MAX_DEPTH];
};

// They stay mapped: a thread may still write a sample after the end.
static struct sample *samples;
static atomic_size_t count;
static atomic_flag is_busy = ATOMIC_FLAG_INIT;

// Runs on the thread that used the processor, and calls only functions that are safe there.
static void take_sample(int signal, siginfo_t *info, void *context) {
  int code = errno;
  size_t index = atomic_fetch_add(&count, 1);
  if (index < MAX_SAMPLES) {
    mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
#if defined(__x86_64__)
    uint64_t frame = (uint64_t)machine->gregs[REG_RBP], address = (uint64_t)machine->gregs[REG_RIP];
#else
    uint64_t frame = machine->regs[29], address = machine->pc;
#endif
    struct sample *sample = &samples[index];
    uint64_t depth = 0;
    while (depth < MAX_DEPTH && address != 0) {
      sample->addresses[depth++] = address;
      // The caller's frame, and the address to return to. A function without frame pointers keeps
      // other values in the register, so the kernel reads them, which reports an invalid address.
      uint64_t link[2];
      struct iovec to = {link, sizeof link}, from = {(void *)frame, sizeof link};
      if (frame % sizeof(uint64_t) != 0
          || process_vm_readv(getpid(), &to, 1, &from, 1, 0) != sizeof link || link[0] <= frame) {
        break;
      }
      // Frames of asynchronous functions are marked by bit 60.
      frame = link[0] & ~(UINT64_C(1) << 60);
      address = link[1];
    }
    atomic_store(&sample->depth, depth);
  }
  errno = code;
}

static int set_timer(unsigned period_us) {
  struct timeval period = {.tv_sec = period_us / 1000000, .tv_usec = period_us % 1000000};
  struct itimerval timer = {period, period};
  return setitimer(ITIMER_PROF, &timer, NULL);
}

int cprofiler_start(unsigned period_us) {
  if (atomic_flag_test_and_set(&is_busy)) return -EBUSY;
  size_t size = MAX_SAMPLES * sizeof(struct sample);
  if (!samples) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory != MAP_FAILED) samples = memory;
  }
  int code = samples ? 0 : ENOMEM;
  if (samples) {
    madvise(samples, size, MADV_DONTNEED);
    atomic_store(&count, 0);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = take_sample;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    if (sigaction(SIGPROF, &action, NULL) < 0 || set_timer(period_us) < 0) code = errno;
  }
  if (code != 0) atomic_flag_clear(&is_busy);
  return -code;
}

uint64_t *cprofiler_stop(size_t *word_count) {
  set_timer(0);
  // Signals on their way must not end the process.
  signal(SIGPROF, SIG_IGN);
  size_t total = atomic_load(&count);
  if (total > MAX_SAMPLES) total = MAX_SAMPLES;
  uint64_t *words = malloc((total * (MAX_DEPTH + 2) + 1) * sizeof *words), *end = words;
  for (size_t i = 0; words && i < total; i++) {
    uint64_t depth = atomic_load(&samples[i].depth);
    if (depth == 0) continue;
    *end++ = 1;
    *end++ = depth;
    memcpy(end, samples[i].addresses, depth * sizeof *end);
    end += depth;
  }
  *word_count = (size_t)(end - words);
  madvise(samples, MAX_SAMPLES * sizeof(struct sample), MADV_DONTNEED);
  atomic_flag_clear(&is_busy);
  return words;
}

char *cprofiler_heaps(void) {
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream(&text, &size);
  if (!file) return NULL;
  int code = malloc_info(0, file);
  fclose(file);
  if (code == 0) return text;
  free(text);
  return NULL;
}

#else

int cprofiler_start(unsigned period_us) { return -ENOSYS; }
uint64_t *cprofiler_stop(size_t *word_count) { return NULL; }
char *cprofiler_heaps(void) { return NULL; }

#endif
