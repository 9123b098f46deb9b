/* The SDK's beginning and end: its state is made at the first call that needs it, published by dmprof_init. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "dmprof/sdk/state.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_state(void) {
  void* memory = mmap(NULL, sizeof(dmprof_page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  dmprof_state* state = dmprof_state_memory_();
  state->page = memory;
  state->page->header.name_count = 1;
  state->page->header.clock_count = 1;
  dmprof_copy_text_(state->page->clocks[0].name, sizeof state->page->clocks[0].name, "host");
  state->monotonic = !dmprof_tsc_is_invariant_();
  dmprof_clock_calibrate_();
  dmprof_register_fork_(state);
  dmprof_state_is_made_();
}

dmprof_state* dmprof_state_get_(void) {
  pthread_once(&once, make_state);
  return dmprof_state_made_();
}

double dmprof_ticks_to_ns(uint64_t difference) {
  const dmprof_state* state = dmprof_state_get_();
  return state == NULL || state->monotonic ? (double)difference : dmprof_tsc_to_ns_(difference);
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
  if (dmprof_state_made_() != NULL) dmprof_shutdown();
}
