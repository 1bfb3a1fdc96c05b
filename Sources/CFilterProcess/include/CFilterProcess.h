// Starts filter processes, and shares memory with them. Linux only: elsewhere all functions fail with
// ENOSYS. Failures are negative errno values.
#ifndef CFILTERPROCESS_H
#define CFILTERPROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Creates a pipe whose ends exec closes: the reading end and the writing end. Returns 0.
int cfp_pipe(int ends[2]);

/// The isolation of a process that was started.
enum cfp_isolation {
  /// It has no network, and cannot gain privileges.
  CFP_ISOLATED = 0,
  /// The system did not permit a network namespace: it has this process's network.
  CFP_SHARES_NETWORK = 1,
};

/// Starts `/bin/sh -c command` with the given environment, which ends with NULL.
///
/// Standard input is empty. `output` becomes standard output, `error` standard error, and `memory`
/// descriptor 3; the process inherits no other descriptor. It cannot gain privileges, has no network if
/// the system permits a namespace of its own, at most `max_descriptors` descriptors, leaves no core, and
/// is killed when the calling thread ends. Stores a cfp_isolation. Returns the process ID.
pid_t cfp_start(
    const char *command, char *const *environment, int output, int error, int memory,
    unsigned max_descriptors, int *isolation);

/// The end of a wait for a process.
enum cfp_event {
  CFP_RUNNING = 0,
  CFP_STOPPED = 1,
  CFP_ENDED = 2,
};

/// Returns whether a child runs, is stopped by a signal, or has ended, without reaping it.
enum cfp_event cfp_state(pid_t process);

/// Waits for the end of a child, without reaping it.
void cfp_wait(pid_t process);

/// Creates zeroed memory that no process can shrink or grow. Returns a descriptor that exec closes.
int cfp_create_memory(size_t byte_count);

/// Maps memory for reading and writing. Returns NULL on failure.
void *cfp_map(int descriptor, size_t byte_count);

/// Releases the pages of a range of the memory, which is zero afterwards.
void cfp_release(int descriptor, size_t offset, size_t byte_count);

#endif
