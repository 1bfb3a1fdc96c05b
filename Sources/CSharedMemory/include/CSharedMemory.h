// Memory that two processes share, and the handing over of its descriptor: what Swift cannot say for
// want of macros (CMSG_*), or what glibc's Swift module leaves out (memfd, seals, SO_PEERCRED).
//
// Linux only: elsewhere csm_is_available() is 0, and all others fail with ENOSYS. Failures are
// negative errno values.
#ifndef CSHAREDMEMORY_H
#define CSHAREDMEMORY_H

#include <stddef.h>
#include <stdint.h>

/// Whether this system can do any of this.
int csm_is_available(void);

/// Makes anonymous memory of a size that nobody can change any more, zeroed.
///
/// Nobody can shrink it, so reading it never faults for want of a page; nor grow it, nor add seals.
/// Returns a descriptor that exec closes.
int csm_create(size_t byte_count);

/// Whether a descriptor is what csm_create makes, with that size: 0, or why not (EINVAL for anything
/// that is no sealable memory, EPERM where a seal is missing, ERANGE for another size).
int csm_check(int descriptor, size_t byte_count);

/// Maps a descriptor for reading and writing. Returns NULL, with errno, on failure.
void *csm_map(int descriptor, size_t byte_count);

/// Ends a mapping.
void csm_unmap(void *address, size_t byte_count);

/// Sends bytes, and with them a descriptor unless that is -1. Never raises SIGPIPE. Returns 0 once all
/// are sent; EAGAIN if they did not fit.
int csm_send(int socket, const uint8_t *bytes, size_t count, int descriptor);

/// Receives a byte into `byte`, and the descriptor that came with it into `descriptor`: -1 if none
/// did. More than one is too many: all are closed (EMSGSIZE). Returns 1; 0 at the end of the stream.
int csm_receive(int socket, uint8_t *byte, int *descriptor);

/// Who is at the other end of a Unix socket: `user` gets the effective user id. Returns 0.
int csm_peer(int socket, uint32_t *user);

/// Connects to a Unix stream socket, and sets how long sending and receiving may each take. Returns a
/// descriptor that exec closes.
int csm_connect(const char *path, int timeout_ms);

/// Accepts a connection: exec closes it, and it does not block. Returns its descriptor.
int csm_accept(int socket);

/// Identifies the file at a path by its device and inode; a link is not followed. Returns 1 for a socket
/// and 0 for any other file.
int csm_identify(const char *path, uint64_t *device, uint64_t *inode);

#endif
