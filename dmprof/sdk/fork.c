/* A forked child must not write into its parent's rings or page: before it runs, its copy of both is replaced by memory
 * of its own. Its page is published at its first event only, so that fork + exec stays cheap. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dmprof/sdk/state.h"

static dmprof_state* inherited;

static void before(void) { pthread_mutex_lock(&inherited->lock); }

static void in_parent(void) { pthread_mutex_unlock(&inherited->lock); }

static void replace_page(dmprof_state* state) {
  const size_t tables = offsetof(dmprof_page, tracks); /* the parent's tracks are not the child's */
  dmprof_page* fresh = mmap(NULL, sizeof(dmprof_page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) _exit(127); /* writing on would corrupt the parent's recording */
  memcpy(fresh, state->page, tables);
  const int visible = state->published || state->page->header.active == DMPROF_ACTIVE_UNPUBLISHED;
  fresh->header.active = visible ? DMPROF_ACTIVE_UNPUBLISHED : 0;
  fresh->header.last_generation = 0;
  fresh->header.track_count = 0;
  fresh->header.untracked = 0;
  if (mremap(fresh, sizeof *fresh, sizeof *fresh, MREMAP_MAYMOVE | MREMAP_FIXED, state->page) == MAP_FAILED) _exit(127);
}

static void in_child(void) {
  dmprof_state* state = inherited;
  pthread_mutex_init(&state->lock, NULL);
  replace_page(state);
  state->published = 0;
  memset(&state->ended, 0, sizeof state->ended);
  state->ended_generation = 0;
  state->next_entry = 0;
  dmprof_forget_mappings_(state);
  /* Tracks of threads that do not exist here stay in the list, without an entry and unreachable for the program. */
  for (dmprof_track* track = state->tracks; track != NULL; track = track->next) {
    dmprof_producer_* producer = track->producer;
    producer->mapping = NULL;
    producer->ring = NULL;
    producer->generation = producer->denied_generation = 0;
    producer->head = producer->end = 0;
    track->generation = track->level = track->depth = 0;
    const int other_thread = track->thread_track && track != dmprof_thread_track_;
    track->untracked = 1;
    if (!other_thread)
      dmprof_give_entry_(state, track, track->name, track->clock_id, track->thread_track ? gettid() : 0);
  }
}

void dmprof_register_fork_(dmprof_state* state) {
  inherited = state;
  pthread_atfork(before, in_parent, in_child);
}
