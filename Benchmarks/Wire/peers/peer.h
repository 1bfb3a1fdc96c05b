// The common part of the peers in C and C++: options, the clock, and the output of figures for bench.py.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Returns the value of `--name` in the arguments; `otherwise` if it is missing.
static inline const char *option(int count, char **arguments, const char *name,
                                 const char *otherwise) {
  for (int i = 2; i + 1 < count; i += 2)
    if (strcmp(arguments[i], name) == 0) return arguments[i + 1];
  return otherwise;
}

static inline double number(int count, char **arguments, const char *name, double otherwise) {
  const char *value = option(count, arguments, name, NULL);
  return value ? atof(value) : otherwise;
}

// Seconds.
static inline double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static inline void sleep_for(double seconds) {
  struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&time, NULL);
}

// Prints a line and flushes it: bench.py samples this process when it reads the line.
static inline void say(const char *line) {
  puts(line);
  fflush(stdout);
}

static inline int compare_doubles(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

// Prints the figures of round trips in seconds, which it sorts, and waits until bench.py closes standard
// input.
static inline void finish(double *times, size_t count, double seconds, size_t least, size_t most) {
  qsort(times, count, sizeof *times, compare_doubles);
  double p50 = count ? times[(count - 1) / 2] * 1e6 : 0;
  double p99 = count ? times[(size_t)((double)(count - 1) * .99)] * 1e6 : 0;
  printf("{\"frames\": %zu, \"seconds\": %f, \"p50_us\": %f, \"p99_us\": %f, \"dropped\": 0, "
         "\"least\": %zu, \"most\": %zu}\n",
         count, seconds, p50, p99, least, most);
  fflush(stdout);
  while (getchar() != EOF) {}
}
