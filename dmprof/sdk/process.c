#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dmprof/sdk/state.h"

/* -1 when this process lacks what it takes to look. */
static int64_t look_up_start(int64_t pid) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -1 : 0;
  const ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  if (length <= 0) return 0;
  text[length] = 0;
  /* The name may hold blanks and brackets: the fields begin after the last bracket, with the state as field 3. */
  const char* field = strrchr(text, ')');
  if (field == NULL || field[1] == 0) return 0;
  field += 2;
  if (*field == 'Z' || *field == 'X') return 0;
  for (int number = 3; number < 22; number++) {
    field = strchr(field, ' ');
    if (field == NULL) return 0;
    field++;
  }
  return (int64_t)strtoull(field, NULL, 10);
}

uint64_t dmprof_process_start_(int64_t pid) {
  const int64_t start = look_up_start(pid);
  return start < 0 ? 0 : (uint64_t)start;
}

int dmprof_process_lives_(int64_t pid, uint64_t start) {
  const int64_t found = look_up_start(pid);
  if (found >= 0) return found != 0 && (uint64_t)found == start;
  return kill((pid_t)pid, 0) == 0 || errno != ESRCH; /* takes no descriptor */
}

static int open_private_directory(const char* path) {
  if (mkdir(path, 0700) != 0 && errno != EEXIST) return -errno;
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return -errno;
  struct stat info;
  if (fstat(fd, &info) != 0 || info.st_uid != geteuid() || (info.st_mode & 077) != 0) {
    close(fd);
    return -EPERM;
  }
  return fd;
}

int dmprof_open_run_directory_(char* path, size_t size) {
  const char* runtime = getenv("XDG_RUNTIME_DIR");
  if (runtime != NULL && runtime[0] == '/') {
    const int length = snprintf(path, size, "%s/dmprof", runtime);
    if (length > 0 && (size_t)length < size) {
      const int fd = open_private_directory(path);
      if (fd >= 0) return fd;
    }
  }
  snprintf(path, size, "/tmp/dmprof-%u", (unsigned)geteuid());
  return open_private_directory(path);
}

void dmprof_copy_text_(char* to, size_t size, const char* from) {
  const size_t length = from == NULL ? 0 : strnlen(from, size - 1);
  if (length != 0) memcpy(to, from, length);
  memset(to + length, 0, size - length);
}
