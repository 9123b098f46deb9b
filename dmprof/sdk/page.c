/* The control page: one file per process in the private run directory, mapped over the memory the tables live in, so
 * that every pointer into them stays valid when the page is published, withdrawn, or left behind by fork. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "dmprof/sdk/state.h"

static void fill_identity(dmprof_state* state) {
  dmprof_page_header* header = &state->page->header;
  header->magic = DMPROF_WIRE_MAGIC;
  header->version = DMPROF_WIRE_VERSION;
  header->page_bytes = sizeof(dmprof_page);
  header->pid = getpid();
  header->parent_pid = getppid();
  header->start_time = dmprof_process_start_(getpid());
  header->clock_source = state->monotonic ? DMPROF_SOURCE_MONOTONIC : DMPROF_SOURCE_TSC;
  header->flags = state->flags & DMPROF_LOSSLESS ? DMPROF_PAGE_LOSSLESS : 0;
  dmprof_copy_text_(header->session, sizeof header->session, getenv("DMPROF_CONTROL"));
  header->active = 0;
  header->collector_pid = 0;
}

/* Maps `size` bytes of `fd` in place of the page's memory, contents kept. fd -1: memory of this process alone. */
static int map_over(dmprof_state* state, int fd) {
  const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* memory = mmap(NULL, sizeof(dmprof_page), PROT_READ | PROT_WRITE, flags, fd, 0);
  if (memory == MAP_FAILED) return errno;
  memcpy(memory, state->page, sizeof(dmprof_page));
  void* placed = mremap(memory, sizeof(dmprof_page), sizeof(dmprof_page), MREMAP_MAYMOVE | MREMAP_FIXED, state->page);
  if (placed == MAP_FAILED) {
    const int error = errno;
    munmap(memory, sizeof(dmprof_page));
    return error;
  }
  return 0;
}

static int make_file(dmprof_state* state) {
  char directory_path[256], temporary[64], name[32];
  const int directory = dmprof_open_run_directory_(directory_path, sizeof directory_path);
  if (directory < 0) return -directory;
  snprintf(temporary, sizeof temporary, ".%d.%llx.new", (int)getpid(), (unsigned long long)dmprof_monotonic_());
  snprintf(name, sizeof name, "%d.ctl", (int)getpid());
  int error = 0;
  const int fd = openat(directory, temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) {
    error = errno;
  } else {
    if (fchmod(fd, 0600) != 0) error = errno;
    if (error == 0) error = posix_fallocate(fd, 0, sizeof(dmprof_page));
    if (error == 0) error = map_over(state, fd);
    /* The rename takes the place of a page that an earlier process of this pid left behind. */
    if (error == 0 && renameat(directory, temporary, directory, name) != 0) {
      error = errno;
      map_over(state, -1);
    }
    if (error != 0) unlinkat(directory, temporary, 0);
    close(fd);
  }
  close(directory);
  if (error == 0) snprintf(state->path, sizeof state->path, "%s/%s", directory_path, name);
  return error;
}

/* `dmprof run` wants the first event too: wait until it has attached, no longer than it lives or the bound says. */
static void wait_for_recorder(dmprof_state* state) {
  const char* session = state->page->header.session;
  if (session[0] == 0) return;
  char* rest = NULL;
  const long long recorder = strtoll(session, &rest, 10);
  const uint64_t start = *rest == ':' ? strtoull(rest + 1, NULL, 10) : 0;
  const char* bound = getenv("DMPROF_WAIT_ATTACH");
  long limit_ms = bound == NULL ? 2000 : strtol(bound, NULL, 10);
  if (limit_ms < 0) limit_ms = 0;
  if (limit_ms > 10000) limit_ms = 10000;
  if (recorder <= 0 || start == 0) return;
  const uint32_t* active = &state->page->header.active;
  const uint64_t until = dmprof_monotonic_() + (uint64_t)limit_ms * 1000000u;
  pthread_mutex_unlock(&state->lock);
  for (unsigned round = 0; __atomic_load_n(active, __ATOMIC_ACQUIRE) == 0 && dmprof_monotonic_() < until; round++) {
    if (round % 64 == 0 && !dmprof_process_lives_(recorder, start)) break;
    const struct timespec rest_time = {0, 100000};
    nanosleep(&rest_time, NULL);
  }
  pthread_mutex_lock(&state->lock);
}

int dmprof_publish_(dmprof_state* state) {
  fill_identity(state);
  const int error = make_file(state);
  if (error != 0) return error;
  state->published = 1;
  state->owner = getpid();
  wait_for_recorder(state);
  return 0;
}

void dmprof_withdraw_(dmprof_state* state) {
  if (!state->published || state->owner != getpid()) return;
  unlink(state->path);
  state->published = 0;
  if (map_over(state, -1) == 0) __atomic_store_n(&state->page->header.active, 0, __ATOMIC_RELEASE);
}
