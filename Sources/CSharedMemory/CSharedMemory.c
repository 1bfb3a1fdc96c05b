#define _GNU_SOURCE
#include "CSharedMemory.h"

#include <errno.h>
#include <sys/stat.h>

int csm_identify(const char *path, uint64_t *device, uint64_t *inode) {
  struct stat status;
  if (lstat(path, &status) < 0) return -errno;
  *device = (uint64_t)status.st_dev;
  *inode = (uint64_t)status.st_ino;
  return S_ISSOCK(status.st_mode) ? 1 : 0;
}

#if defined(__linux__)

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

// No F_SEAL_WRITE, since both sides write. F_SEAL_SEAL prevents further seals.
static const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

int csm_is_available(void) { return 1; }

int csm_create(size_t byte_count) {
  int descriptor = memfd_create("sidelight-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return -errno;
  if (ftruncate(descriptor, (off_t)byte_count) < 0
      || fcntl(descriptor, F_ADD_SEALS, seals) < 0) {
    int error = errno;
    close(descriptor);
    return -error;
  }
  return descriptor;
}

int csm_check(int descriptor, size_t byte_count) {
  struct stat status;
  int present = fcntl(descriptor, F_GET_SEALS);
  if (present < 0) return -EINVAL;
  if ((present & seals) != seals) return -EPERM;
  if (fstat(descriptor, &status) < 0) return -errno;
  if (status.st_size < 0 || (uintmax_t)status.st_size != byte_count) return -ERANGE;
  return 0;
}

void *csm_map(int descriptor, size_t byte_count) {
  void *address =
      mmap(NULL, byte_count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (address == MAP_FAILED) return NULL;
  // Fewer faults on first use if the system allows huge pages for shared memory; else no effect.
  madvise(address, byte_count, MADV_HUGEPAGE);
  // Core dumps should not contain pictures, and child processes need no ring.
  madvise(address, byte_count, MADV_DONTDUMP);
  madvise(address, byte_count, MADV_DONTFORK);
  return address;
}

void csm_unmap(void *address, size_t byte_count) { munmap(address, byte_count); }

int csm_send(int socket, const uint8_t *bytes, size_t count, int descriptor) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (descriptor >= 0) {
    memset(&control, 0, sizeof control);
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  }
  ssize_t sent;
  do {
    sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return -errno;
  return (size_t)sent == count ? 0 : -EAGAIN;
}

int csm_receive(int socket, uint8_t *byte, int *descriptor) {
  // Fits several descriptors, so a peer that sends more than one is detected.
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(4 * sizeof(int))];
  } control;
  struct iovec part = {.iov_base = byte, .iov_len = 1};
  struct msghdr message = {
      .msg_iov = &part,
      .msg_iovlen = 1,
      .msg_control = control.bytes,
      .msg_controllen = sizeof control.bytes,
  };
  *descriptor = -1;
  ssize_t received;
  do {
    received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received < 0) return -errno;

  int count = 0;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    size_t length = header->cmsg_len - CMSG_LEN(0);
    for (size_t offset = 0; offset + sizeof(int) <= length; offset += sizeof(int)) {
      int each;
      memcpy(&each, CMSG_DATA(header) + offset, sizeof(int));
      if (count++ == 0) {
        *descriptor = each;
      } else {
        close(each);
      }
    }
  }
  if (count > 1 || (message.msg_flags & MSG_CTRUNC)) {
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
    return -EMSGSIZE;
  }
  return (int)received;
}

int csm_peer(int socket, uint32_t *user) {
  struct ucred credentials;
  socklen_t length = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0) return -errno;
  *user = credentials.uid;
  return 0;
}

// Stores the address of a path. Returns 0, or -ENAMETOOLONG if the path does not fit.
static int address_of(const char *path, struct sockaddr_un *address) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address->sun_path) return -ENAMETOOLONG;
  strcpy(address->sun_path, path);
  return 0;
}

int csm_connect(const char *path, int timeout_ms) {
  struct sockaddr_un address;
  int result = address_of(path, &address);
  if (result < 0) return result;
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -errno;
  struct timeval limit = {.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000};
  // If the backlog is full, connect waits for at most the send timeout.
  if (setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) < 0
      || setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0
      || connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0) {
    int error = errno;
    close(descriptor);
    return -error;
  }
  return descriptor;
}

int csm_accept(int socket) {
  int descriptor = accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  return descriptor < 0 ? -errno : descriptor;
}

#else

int csm_is_available(void) { return 0; }
int csm_create(size_t byte_count) { return -ENOSYS; }
int csm_check(int descriptor, size_t byte_count) { return -ENOSYS; }
void *csm_map(int descriptor, size_t byte_count) { errno = ENOSYS; return NULL; }
void csm_unmap(void *address, size_t byte_count) {}
int csm_send(int socket, const uint8_t *bytes, size_t count, int descriptor) { return -ENOSYS; }
int csm_receive(int socket, uint8_t *byte, int *descriptor) { return -ENOSYS; }
int csm_peer(int socket, uint32_t *user) { return -ENOSYS; }
int csm_connect(const char *path, int timeout_ms) { return -ENOSYS; }
int csm_accept(int socket) { return -ENOSYS; }

#endif
