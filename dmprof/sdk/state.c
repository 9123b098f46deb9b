#define _GNU_SOURCE
#include "dmprof/sdk/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static dmprof_state state_memory = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int usable;

static void end_thread(void* track) {
  dmprof_thread_track_ = NULL;
  dmprof_track_end(track);
}

static void make_state(void) {
  void* memory = mmap(NULL, sizeof(dmprof_page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  if (pthread_key_create(&state_memory.thread_key, end_thread) != 0) {
    munmap(memory, sizeof(dmprof_page));
    return;
  }
  state_memory.page = memory;
  state_memory.page->header.name_count = 1;
  state_memory.page->header.clock_count = 1;
  dmprof_copy_text_(state_memory.page->clocks[0].name, sizeof state_memory.page->clocks[0].name, "host");
  state_memory.monotonic = !dmprof_tsc_is_invariant_();
  dmprof_clock_calibrate_();
  dmprof_register_fork_();
  usable = 1;
}

dmprof_state* dmprof_state_get_(void) {
  pthread_once(&once, make_state);
  return usable ? &state_memory : NULL;
}

int dmprof_init(const dmprof_options* options) {
  dmprof_state* state = dmprof_state_get_();
  if (state == NULL) return ENOMEM;
  int status = 0;
  pthread_mutex_lock(&state->lock);
  if (!state->published) {
    dmprof_page_header* header = &state->page->header;
    const char* engine = options == NULL ? NULL : options->engine;
    dmprof_copy_text_(header->engine, sizeof header->engine, engine != NULL ? engine : program_invocation_short_name);
    dmprof_copy_text_(header->engine_version, sizeof header->engine_version, options == NULL ? NULL : options->version);
    state->flags = options == NULL ? 0 : options->flags;
    status = dmprof_publish_(state);
  }
  pthread_mutex_unlock(&state->lock);
  return status;
}

void dmprof_shutdown(void) {
  dmprof_state* state = dmprof_state_get_();
  if (state == NULL) return;
  pthread_mutex_lock(&state->lock);
  dmprof_withdraw_(state);
  pthread_mutex_unlock(&state->lock);
}

__attribute__((destructor)) static void withdraw_at_exit(void) {
  if (usable) dmprof_shutdown();
}
