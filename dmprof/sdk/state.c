#define _GNU_SOURCE
#include "dmprof/sdk/state.h"

__thread dmprof_track* dmprof_thread_track_;

static dmprof_state memory = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int made;

dmprof_state* dmprof_state_memory_(void) { return &memory; }

void dmprof_state_is_made_(void) { __atomic_store_n(&made, 1, __ATOMIC_RELEASE); }

dmprof_state* dmprof_state_made_(void) { return __atomic_load_n(&made, __ATOMIC_ACQUIRE) ? &memory : NULL; }
