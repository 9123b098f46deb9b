/* What the .c files of the SDK share; not for users. Everything here is guarded by `lock` unless it says otherwise. */
#ifndef DMPROF_SDK_STATE_H_
#define DMPROF_SDK_STATE_H_

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "dmprof/sdk/dmprof.h"

#define DMPROF_HIDDEN_ __attribute__((visibility("hidden")))

/* One mapped arena. Freed when no producer refers to it and a newer one is current. */
struct dmprof_mapping_ {
  dmprof_arena_header* arena;
  size_t bytes;
  uint32_t generation;
  uint32_t references;
  struct dmprof_mapping_* next;
};

typedef struct dmprof_state {
  pthread_mutex_t lock;
  dmprof_page* page; /* same address for life: anonymous memory, over which the published file is mapped */
  int published;
  char path[300]; /* of the published page */
  pid_t owner;    /* process that published it */
  uint32_t flags;
  struct dmprof_mapping_* mappings; /* newest first */
  dmprof_track* tracks;
  dmprof_totals ended; /* totals of tracks that ended during attachment `ended_generation` */
  uint32_t ended_generation;
  uint32_t next_entry;
  uint64_t clock_now[DMPROF_MAX_CLOCKS]; /* atomics */
  pthread_key_t thread_key;
  uint8_t monotonic; /* the TSC is not invariant here */
} dmprof_state;

/* NULL when even the first page of memory could not be had: then the SDK does nothing. Thread-safe. */
DMPROF_HIDDEN_ dmprof_state* dmprof_state_get_(void);

/* page.c: under the lock. Returns 0 or errno; waits for the recorder named in the environment (gives the lock up
 * meanwhile). */
DMPROF_HIDDEN_ int dmprof_publish_(dmprof_state* state);
DMPROF_HIDDEN_ void dmprof_withdraw_(dmprof_state* state);
/* fork.c: replaces what a forked child inherited. */
DMPROF_HIDDEN_ void dmprof_register_fork_(void);

/* process.c */
/* Start time of a live process (field 22 of /proc/PID/stat); 0 when it is gone, a zombie, or unreadable. */
DMPROF_HIDDEN_ uint64_t dmprof_process_start_(int64_t pid);
/* Opens the private run directory, making it when needed: $XDG_RUNTIME_DIR/dmprof, else /tmp/dmprof-UID. Writes its
 * path. Returns a descriptor or -errno; refuses a link, another owner, and any access for others. */
DMPROF_HIDDEN_ int dmprof_open_run_directory_(char* path, size_t size);

/* track.c: under the lock. */
DMPROF_HIDDEN_ int dmprof_give_entry_(dmprof_state* state, dmprof_track* track, const char* name, uint32_t clock,
                                      int64_t thread);
/* ring.c: under the lock. */
DMPROF_HIDDEN_ void dmprof_release_producer_(dmprof_state* state, dmprof_producer_* producer);
DMPROF_HIDDEN_ void dmprof_forget_mappings_(dmprof_state* state);

/* clock.c */
DMPROF_HIDDEN_ int dmprof_tsc_is_invariant_(void);
DMPROF_HIDDEN_ void dmprof_clock_calibrate_(void);

/* Copies at most size - 1 bytes and fills the rest with zeros; NULL counts as empty. */
DMPROF_HIDDEN_ void dmprof_copy_text_(char* to, size_t size, const char* from);

#endif /* DMPROF_SDK_STATE_H_ */
