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
  uint8_t monotonic;                     /* the TSC is not invariant here */
} dmprof_state;

/* ---- Layers ------------------------------------------------------------------------------------------------------
 * Lowest first: a file calls files of the layers above its own in this list, never one below or beside it. A test holds
 * the comments that begin with a file's name against the compiled library (tests/lint/sdk_layers.py). */

/* process.c, clock.c: the operating system; they know no state. */
/* Start time of a live process (field 22 of /proc/PID/stat); 0 when it is gone, a zombie, or unreadable. */
DMPROF_HIDDEN_ uint64_t dmprof_process_start_(int64_t pid);
/* 1 while the process of this pid and start time runs, and when no descriptor is left to see whether it does. */
DMPROF_HIDDEN_ int dmprof_process_lives_(int64_t pid, uint64_t start);
/* Opens the private run directory, making it when needed: $XDG_RUNTIME_DIR/dmprof, else /tmp/dmprof-UID. Writes its
 * path. Returns a descriptor or -errno; refuses a link, another owner, and any access for others. */
DMPROF_HIDDEN_ int dmprof_open_run_directory_(char* path, size_t size);
/* Copies at most size - 1 bytes and fills the rest with zeros; NULL counts as empty. */
DMPROF_HIDDEN_ void dmprof_copy_text_(char* to, size_t size, const char* from);
DMPROF_HIDDEN_ int dmprof_tsc_is_invariant_(void);
DMPROF_HIDDEN_ void dmprof_clock_calibrate_(void);
/* Nanoseconds of a difference of two TSC readings; may wait until the clocks have run long enough to be compared. */
DMPROF_HIDDEN_ double dmprof_tsc_to_ns_(uint64_t difference);

/* state.c: where the state lies. NULL until life.c has made it; whoever has a track finds it. Thread-safe. */
DMPROF_HIDDEN_ dmprof_state* dmprof_state_made_(void);
DMPROF_HIDDEN_ dmprof_state* dmprof_state_memory_(void);
DMPROF_HIDDEN_ void dmprof_state_is_made_(void);

/* page.c: under the lock. Returns 0 or errno; waits for the recorder named in the environment (gives the lock up
 * meanwhile). */
DMPROF_HIDDEN_ int dmprof_publish_(dmprof_state* state);
DMPROF_HIDDEN_ void dmprof_withdraw_(dmprof_state* state);

/* ring.c, entry.c: under the lock. */
DMPROF_HIDDEN_ void dmprof_release_producer_(dmprof_state* state, dmprof_producer_* producer);
DMPROF_HIDDEN_ void dmprof_forget_mappings_(dmprof_state* state);
/* Gives the track an entry of the page's table, or makes it an untracked one when there is none. */
DMPROF_HIDDEN_ void dmprof_give_entry_(dmprof_state* state, dmprof_track* track, const char* name, uint32_t clock,
                                       int64_t thread);

/* fork.c: replaces what a forked child inherits of this state. Once. */
DMPROF_HIDDEN_ void dmprof_register_fork_(dmprof_state* state);

/* life.c: makes the state when it is first asked for. NULL when even the first page of memory could not be had: then
 * the SDK does nothing. Thread-safe. */
DMPROF_HIDDEN_ dmprof_state* dmprof_state_get_(void);

/* track.c, tables.c, emit.c: the rest of what dmprof.h declares. They do not call each other. */

#endif /* DMPROF_SDK_STATE_H_ */
