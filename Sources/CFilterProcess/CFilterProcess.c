#define _GNU_SOURCE
#include "CFilterProcess.h"

#include <errno.h>

#if defined(__linux__)

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_file(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t written = write(file, text, strlen(text));
  (void)written;
  close(file);
}

// Gives the process a network without interfaces. An unprivileged process needs a user namespace for
// that, in which it keeps its IDs.
static int isolate_network(const char *users, const char *groups) {
  if (unshare(CLONE_NEWNET) == 0) return 1;
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return 0;
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", users);
  write_file("/proc/self/gid_map", groups);
  return 1;
}

static void become(
    const char *command, char *const *environment, int output, int error, int memory,
    unsigned max_descriptors, int report, const char *users, const char *groups, pid_t parent) {
  // Ignored and blocked signals stay so across exec.
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; signal++) sigaction(signal, &action, NULL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  // A process group of its own, so that a terminal does not interrupt it before the host ends it.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);

  // Above the numbers that they get, to overwrite none of them.
  int high = 64;
  report = fcntl(report, F_DUPFD_CLOEXEC, high);
  output = fcntl(output, F_DUPFD_CLOEXEC, high);
  error = fcntl(error, F_DUPFD_CLOEXEC, high);
  memory = fcntl(memory, F_DUPFD_CLOEXEC, high);
  int input = open("/dev/null", O_RDONLY);
  if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(error, 2) < 0 || dup2(memory, 3) < 0) {
    _exit(127);
  }
  // Descriptors that are not marked close-on-exec, too.
  if (syscall(SYS_close_range, 4, (unsigned)high - 1, 0) != 0) {
    for (int number = 4; number < high; number++) close(number);
  }
  syscall(SYS_close_range, (unsigned)high, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);

  struct rlimit limit = {.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &limit);
  limit.rlim_cur = limit.rlim_max = max_descriptors;
  setrlimit(RLIMIT_NOFILE, &limit);
  unsigned char isolation =
      isolate_network(users, groups) ? CFP_ISOLATED : CFP_SHARES_NETWORK;
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ssize_t written = write(report, &isolation, 1);
  (void)written;
  char *const arguments[] = {"sh", "-c", (char *)command, NULL};
  execve("/bin/sh", arguments, environment);
  _exit(127);
}

int cfp_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) < 0 ? -errno : 0; }

pid_t cfp_start(
    const char *command, char *const *environment, int output, int error, int memory,
    unsigned max_descriptors, int *isolation) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) < 0) return -errno;
  char users[64], groups[64];
  snprintf(users, sizeof users, "%u %u 1", geteuid(), geteuid());
  snprintf(groups, sizeof groups, "%u %u 1", getegid(), getegid());
  pid_t parent = getpid();
  pid_t process = fork();
  if (process == 0) {
    become(
        command, environment, output, error, memory, max_descriptors, report[1], users, groups,
        parent);
  }
  int code = process < 0 ? errno : 0;
  close(report[1]);
  unsigned char answer = CFP_SHARES_NETWORK;
  if (process > 0) {
    while (read(report[0], &answer, 1) < 0 && errno == EINTR) {
    }
  }
  close(report[0]);
  *isolation = answer;
  return process < 0 ? -code : process;
}

enum cfp_event cfp_state(pid_t process) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  if (waitid(P_PID, (id_t)process, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) < 0) {
    return CFP_ENDED;
  }
  if (info.si_pid == 0) return CFP_RUNNING;
  return info.si_code == CLD_STOPPED || info.si_code == CLD_TRAPPED ? CFP_STOPPED : CFP_ENDED;
}

void cfp_wait(pid_t process) {
  siginfo_t info;
  while (waitid(P_PID, (id_t)process, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
}

int cfp_create_memory(size_t byte_count) {
  int descriptor = memfd_create("sidelight-filter", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return -errno;
  if (ftruncate(descriptor, (off_t)byte_count) < 0
      || fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
    int code = errno;
    close(descriptor);
    return -code;
  }
  return descriptor;
}

void *cfp_map(int descriptor, size_t byte_count) {
  void *address =
      mmap(NULL, byte_count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (address == MAP_FAILED) return NULL;
  // Core dumps should not contain pictures, and child processes need no mapping.
  madvise(address, byte_count, MADV_DONTDUMP);
  madvise(address, byte_count, MADV_DONTFORK);
  return address;
}

void cfp_release(int descriptor, size_t offset, size_t byte_count) {
  fallocate(
      descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)byte_count);
}

#else

int cfp_pipe(int ends[2]) { return -ENOSYS; }
pid_t cfp_start(
    const char *command, char *const *environment, int output, int error, int memory,
    unsigned max_descriptors, int *isolation) {
  return -ENOSYS;
}
enum cfp_event cfp_state(pid_t process) { return CFP_ENDED; }
void cfp_wait(pid_t process) {}
int cfp_create_memory(size_t byte_count) { return -ENOSYS; }
void *cfp_map(int descriptor, size_t byte_count) { return NULL; }
void cfp_release(int descriptor, size_t offset, size_t byte_count) {}

#endif
