#define _GNU_SOURCE
#include "CFilterProcess.h"

#include <errno.h>

#if defined(__linux__)

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
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

// The lines of a user namespace in which a process keeps its IDs.
struct id_maps {
  char users[64], groups[64];
};

static struct id_maps id_maps(uid_t user, gid_t group) {
  struct id_maps maps;
  snprintf(maps.users, sizeof maps.users, "%u %u 1", user, user);
  snprintf(maps.groups, sizeof maps.groups, "%u %u 1", group, group);
  return maps;
}

// Gives an unprivileged process a network without interfaces, which needs a user namespace.
static int isolate_network(const struct id_maps *maps) {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return 0;
  // After a change of the user only root can write these files otherwise. Other processes outside the
  // new namespace cannot read this copy of the host's memory.
  prctl(PR_SET_DUMPABLE, 1);
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", maps->users);
  write_file("/proc/self/gid_map", maps->groups);
  prctl(PR_SET_DUMPABLE, 0);
  return 1;
}

// Takes another user for good. Until exec, the kernel keeps other processes of that user from this copy
// of the host's memory.
static int become_user(uid_t user, gid_t group) {
  if (setgroups(0, NULL) != 0 || setresgid(group, group, group) != 0) return 0;
  return setresuid(user, user, user) == 0;
}

// Reads a byte that a new process writes, or ends the process if it takes too long, as on a file system
// that does not answer. Returns 0 if the process ends without it.
static int read_report(int file, unsigned char *report, pid_t process) {
  struct pollfd wait = {.fd = file, .events = POLLIN};
  int count;
  do count = poll(&wait, 1, 10000);
  while (count < 0 && errno == EINTR);
  if (count == 0) kill(process, SIGKILL);
  return count > 0 && read(file, report, 1) == 1;
}

void cfp_kill_all(uid_t user, gid_t group) {
  pid_t process = fork();
  if (process == 0) {
    if (become_user(user, group)) kill(-1, SIGKILL);
    _exit(0);
  }
  while (process > 0 && waitpid(process, NULL, 0) < 0 && errno == EINTR) {
  }
}

void cfp_hide_memory(void) { prctl(PR_SET_DUMPABLE, 0); }

int cfp_can_read(uid_t user, gid_t group, char *const *paths) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) < 0) return 0;
  pid_t process = fork();
  if (process == 0) {
    if (!become_user(user, group)) _exit(1);
    for (; *paths; paths++) {
      if (access(*paths, R_OK) != 0) _exit(1);
    }
    _exit(write(report[1], "", 1) != 1);
  }
  close(report[1]);
  unsigned char byte;
  int can_read = process > 0 && read_report(report[0], &byte, process);
  close(report[0]);
  while (process > 0 && waitpid(process, NULL, 0) < 0 && errno == EINTR) {
  }
  return can_read;
}

// Closes descriptors where the kernel cannot close a range of them.
static void close_from(int first) {
  struct rlimit limit;
  int end = 1 << 20;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < (rlim_t)end) {
    end = (int)limit.rlim_cur;
  }
  for (int number = first; number < end; number++) close(number);
}

static void limit(int resource, uint64_t value) {
  struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
  setrlimit(resource, &limit);
}

static void become(
    const struct cfp_program *program, int report, const struct id_maps *own,
    const struct id_maps *other, pid_t parent) {
  int output = program->output, memory = program->memory;
  // Ignored and blocked signals stay so across exec.
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; signal++) sigaction(signal, &action, NULL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  // A session of its own: a terminal does not interrupt it before the host ends it, and it cannot
  // join the host's process group, where the host would not find it.
  setsid();

  // Above the numbers that they get, to overwrite none of them.
  int high = 64;
  report = fcntl(report, F_DUPFD_CLOEXEC, high);
  output = fcntl(output, F_DUPFD_CLOEXEC, high);
  memory = fcntl(memory, F_DUPFD_CLOEXEC, high);
  int input = open("/dev/null", O_RDONLY);
  if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0 || dup2(memory, 3) < 0
      || dup3(report, 4, O_CLOEXEC) < 0) {
    _exit(127);
  }
  report = 4;
  // Descriptors that are not marked close-on-exec, too.
  if (syscall(SYS_close_range, 5, ~0u, 0) != 0) close_from(5);

  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, program->max_descriptors);
  // Private memory that can be written. Mappings of files, and of the shared memory, are not in it.
  limit(RLIMIT_DATA, program->max_memory);
  unsigned char isolation = 0;
  int is_isolated = unshare(CLONE_NEWNET) == 0;
  int has_user = program->user != geteuid() && become_user(program->user, program->group);
  // The limit counts all of the user's processes, so it applies only to a user of the process's own.
  if (has_user) limit(RLIMIT_NPROC, program->max_processes);
  if (!has_user && program->user != geteuid()) isolation |= CFP_KEEPS_USER;
  if (!is_isolated && !isolate_network(has_user ? other : own)) isolation |= CFP_SHARES_NETWORK;
  // A change of the user resets it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  // Also root's processes get none with exec then, because they must not gain privileges.
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct capabilities[2] = {{0}};
  syscall(SYS_capset, &header, capabilities);
  if (chdir(program->folder) != 0) _exit(127);
  ssize_t written = write(report, &isolation, 1);
  (void)written;
  char *const arguments[] = {"sh", "-c", (char *)program->command, NULL};
  execve("/bin/sh", arguments, program->environment);
  _exit(127);
}

int cfp_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) < 0 ? -errno : 0; }

pid_t cfp_start(const struct cfp_program *program, int *isolation) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) < 0) return -errno;
  struct id_maps own = id_maps(geteuid(), getegid());
  struct id_maps other = id_maps(program->user, program->group);
  pid_t parent = getpid();
  pid_t process = fork();
  if (process == 0) become(program, report[1], &own, &other, parent);
  int code = process < 0 ? errno : 0;
  close(report[1]);
  unsigned char answer = 0;
  if (process > 0) read_report(report[0], &answer, process);
  close(report[0]);
  *isolation = answer;
  return process < 0 ? -code : process;
}

static void remove_contents(int folder, int depth) {
  DIR *entries = fdopendir(folder);
  if (!entries) {
    close(folder);
    return;
  }
  struct dirent *entry;
  while ((entry = readdir(entries))) {
    const char *name = entry->d_name;
    if (!strcmp(name, ".") || !strcmp(name, "..") || unlinkat(folder, name, 0) == 0) continue;
    int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0) continue;
    if (depth > 0) remove_contents(inner, depth - 1);
    else close(inner);
    unlinkat(folder, name, AT_REMOVEDIR);
  }
  closedir(entries);
}

void cfp_remove(const char *path) {
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder >= 0) remove_contents(folder, 32);
  rmdir(path);
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
pid_t cfp_start(const struct cfp_program *program, int *isolation) { return -ENOSYS; }
void cfp_remove(const char *path) {}
int cfp_can_read(uid_t user, gid_t group, char *const *paths) { return 0; }
void cfp_kill_all(uid_t user, gid_t group) {}
void cfp_hide_memory(void) {}
enum cfp_event cfp_state(pid_t process) { return CFP_ENDED; }
void cfp_wait(pid_t process) {}
int cfp_create_memory(size_t byte_count) { return -ENOSYS; }
void *cfp_map(int descriptor, size_t byte_count) { return NULL; }
void cfp_release(int descriptor, size_t offset, size_t byte_count) {}

#endif
