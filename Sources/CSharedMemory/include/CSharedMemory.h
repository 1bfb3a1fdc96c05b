// Shared memory and the passing of descriptors: functions that need macros, which Swift cannot call
// (CMSG_*), or declarations that glibc's Swift module lacks (memfd, seals, SO_PEERCRED).
//
// Linux only: elsewhere csm_is_available() returns 0, and the other functions fail with ENOSYS.
// Failures are negative errno values.
#ifndef CSHAREDMEMORY_H
#define CSHAREDMEMORY_H

#include <stddef.h>
#include <stdint.h>

/// Returns whether this system is supported.
int csm_is_available(void);

/// Creates zeroed anonymous memory of a fixed size.
///
/// No process can shrink it, so reading it never faults, nor grow it, nor add seals. Returns a
/// descriptor that exec closes.
int csm_create(size_t byte_count);

/// Checks that a descriptor is memory that csm_create created with that size. Returns 0, or EINVAL
/// if it is not sealable memory, EPERM if a seal is missing, ERANGE for another size.
int csm_check(int descriptor, size_t byte_count);

/// Maps a descriptor for reading and writing. Returns NULL on failure, and sets errno.
void *csm_map(int descriptor, size_t byte_count);

/// Removes a mapping.
void csm_unmap(void *address, size_t byte_count);

/// Sends bytes, with a descriptor unless it is -1. Never raises SIGPIPE. Returns 0 if all bytes are
/// sent, EAGAIN if they do not fit.
int csm_send(int socket, const uint8_t *bytes, size_t count, int descriptor);

/// Receives a byte into `byte`, and a descriptor that was sent with it into `descriptor`, else -1.
/// Closes all descriptors if there are several (EMSGSIZE). Returns 1, or 0 at the end of the
/// stream.
int csm_receive(int socket, uint8_t *byte, int *descriptor);

/// Stores the effective user ID of the peer of a Unix socket in `user`. Returns 0.
int csm_peer(int socket, uint32_t *user);

/// Connects to a Unix stream socket, and sets a timeout for sending and for receiving. Returns a
/// descriptor that exec closes.
int csm_connect(const char *path, int timeout_ms);

/// Accepts a connection. Returns a non-blocking descriptor that exec closes.
int csm_accept(int socket);

/// Identifies the file at a path by its device and inode; a link is not followed. Returns 1 for a socket
/// and 0 for any other file.
int csm_identify(const char *path, uint64_t *device, uint64_t *inode);

#endif
