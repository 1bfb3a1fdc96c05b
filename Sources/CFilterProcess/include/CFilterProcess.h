// Starts filter processes, and shares memory with them. Linux only: elsewhere all functions fail with
// ENOSYS. Failures are negative errno values.
#ifndef CFILTERPROCESS_H
#define CFILTERPROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Creates a pipe whose ends exec closes: the reading end and the writing end. Returns 0.
int cfp_pipe(int ends[2]);

/// What a process that was started shares with this one. Flags.
enum cfp_isolation {
  /// The system did not permit a network namespace: it has this process's network.
  CFP_SHARES_NETWORK = 1,
  /// The system did not permit a change of the user.
  CFP_KEEPS_USER = 2,
};

/// A program to start.
struct cfp_program {
  /// The command of the shell.
  const char *command;
  /// Its variables. The last is NULL.
  char *const *environment;
  /// Becomes standard output and standard error.
  int output;
  /// Becomes descriptor 3.
  int memory;
  /// Its working directory.
  const char *folder;
  /// Its user and group. Other IDs than this process's need privileges.
  uid_t user;
  gid_t group;
  /// The maximum number of its descriptors.
  unsigned max_descriptors;
  /// The maximum number of processes and threads of a user of its own.
  unsigned max_processes;
  /// The maximum size of its private memory, in bytes.
  uint64_t max_memory;
};

/// Starts a program with `/bin/sh -c`.
///
/// Standard input is empty; the process inherits no descriptors but those of the program. It has no
/// capabilities and cannot gain privileges, has no network if the system permits a namespace of its
/// own, leaves no core, and is killed when the calling thread ends. Stores flags of cfp_isolation.
/// Returns the process ID.
pid_t cfp_start(const struct cfp_program *program, int *isolation);

/// Returns whether another user can read files. `paths` ends with NULL. Needs privileges.
int cfp_can_read(uid_t user, gid_t group, char *const *paths);

/// Kills all processes of another user. Needs privileges.
void cfp_kill_all(uid_t user, gid_t group);

/// Keeps other processes of this user from reading this process's memory, and the system from
/// writing it into a core file.
void cfp_hide_memory(void);

/// Removes a folder, without following links that another process creates in it.
void cfp_remove(const char *path);

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
