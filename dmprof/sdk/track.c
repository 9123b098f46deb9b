#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "dmprof/sdk/state.h"

/* Stands in for a track when memory is short: never active, so nobody writes to it but dmprof_set_step. */
static const uint32_t never = 0;
static __thread dmprof_track null_track = {.active = &never};

/* Ends a thread's track with the thread. */
static pthread_key_t thread_key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static int key_made; /* without it a thread's track lives as long as the process */

static void end_thread(void* track) {
  dmprof_thread_track_ = NULL;
  dmprof_track_end(track);
}

static void make_key(void) { key_made = pthread_key_create(&thread_key, end_thread) == 0; }

/* Made with a producer of its own, or sharing `producer`. Takes the lock. */
static dmprof_track* make_track(dmprof_state* state, const char* name, uint32_t clock, int64_t thread,
                                dmprof_producer_* producer) {
  dmprof_track* track = calloc(1, sizeof *track);
  dmprof_producer_* own = producer == NULL ? calloc(1, sizeof *own) : NULL;
  if (track == NULL || (producer == NULL && own == NULL)) {
    free(track);
    free(own);
    return NULL;
  }
  track->producer = producer != NULL ? producer : own;
  track->monotonic = state->monotonic;
  track->thread_track = thread != 0;
  track->clock_id = clock;
  track->clock = clock == 0 ? NULL : &state->clock_now[clock];
  dmprof_copy_text_(track->name, sizeof track->name, name);
  pthread_mutex_lock(&state->lock);
  track->active = &state->page->header.active;
  track->producer->references++;
  dmprof_give_entry_(state, track, track->name, clock, thread);
  track->next = state->tracks;
  state->tracks = track;
  pthread_mutex_unlock(&state->lock);
  return track;
}

dmprof_track* dmprof_thread_track_make_(void) {
  dmprof_state* state = dmprof_state_get_();
  if (state == NULL) return &null_track;
  char name[17] = "";
  prctl(PR_GET_NAME, name, 0, 0, 0);
  dmprof_track* track = make_track(state, name, 0, gettid(), NULL);
  if (track == NULL) return &null_track;
  dmprof_thread_track_ = track;
  pthread_once(&key_once, make_key);
  if (key_made) (void)pthread_setspecific(thread_key, track); /* on failure as without the key */
  return track;
}

void dmprof_thread_name(const char* name) {
  dmprof_track* track = dmprof_thread_track();
  dmprof_state* state = dmprof_state_get_();
  if (track == &null_track || state == NULL) return;
  pthread_mutex_lock(&state->lock);
  dmprof_copy_text_(track->name, sizeof track->name, name);
  if (!track->untracked) dmprof_copy_text_(track->entry->name, sizeof track->entry->name, name);
  pthread_mutex_unlock(&state->lock);
}

dmprof_track* dmprof_track_create(const char* name, uint32_t clock, uint32_t flags) {
  dmprof_state* state = dmprof_state_get_();
  if (state == NULL) return &null_track;
  if (clock >= __atomic_load_n(&state->page->header.clock_count, __ATOMIC_ACQUIRE)) clock = 0;
  dmprof_producer_* producer = NULL;
  if (!(flags & DMPROF_TRACK_OWN_RING)) {
    const dmprof_track* mine = dmprof_thread_track();
    if (mine == &null_track) return &null_track;
    producer = mine->producer;
  }
  dmprof_track* track = make_track(state, name, clock, 0, producer);
  return track == NULL ? &null_track : track;
}

void dmprof_track_end(dmprof_track* track) {
  dmprof_state* state = dmprof_state_get_();
  if (state == NULL || track == NULL || track == &null_track) return;
  pthread_mutex_lock(&state->lock);
  if (track == dmprof_thread_track_) {
    dmprof_thread_track_ = NULL;
    if (key_made) (void)pthread_setspecific(thread_key, NULL);
  }
  dmprof_producer_* producer = track->producer;
  const uint32_t active = __atomic_load_n(&state->page->header.active, __ATOMIC_ACQUIRE);
  if (!track->untracked) {
    dmprof_track_entry* entry = track->entry;
    if (entry->generation != 0 && entry->generation == state->page->header.last_generation) {
      const dmprof_totals totals = dmprof_emitted(track);
      if (state->ended_generation != entry->generation) memset(&state->ended, 0, sizeof state->ended);
      state->ended_generation = entry->generation;
      state->ended.emitted += totals.emitted;
      state->ended.lost += totals.lost;
    }
    const int counted = active != 0 && entry->generation == active;
    __atomic_store_n(&entry->state, counted ? DMPROF_TRACK_ENDED : DMPROF_TRACK_FREE, __ATOMIC_RELEASE);
  }
  dmprof_track** place = &state->tracks;
  while (*place != NULL && *place != track) place = &(*place)->next;
  if (*place == track) *place = track->next;
  if (--producer->references == 0) {
    dmprof_release_producer_(state, producer);
    free(producer);
  }
  pthread_mutex_unlock(&state->lock);
  free(track);
}

static dmprof_totals totals_of(const dmprof_track_entry* entry) {
  dmprof_totals totals = {__atomic_load_n(&entry->emitted, __ATOMIC_RELAXED), 0};
  for (int cause = 0; cause < DMPROF_LOSS_CAUSES; cause++)
    totals.lost += __atomic_load_n(&entry->lost[cause], __ATOMIC_RELAXED);
  return totals;
}

dmprof_totals dmprof_emitted(const dmprof_track* track) {
  dmprof_totals sum = {0, 0};
  dmprof_state* state = dmprof_state_get_();
  if (state == NULL || track == &null_track) return sum;
  const uint32_t generation = state->page->header.last_generation;
  if (track != NULL) return track->untracked || track->entry->generation != generation ? sum : totals_of(track->entry);
  pthread_mutex_lock(&state->lock);
  if (state->ended_generation == generation) sum = state->ended;
  for (const dmprof_track* each = state->tracks; each != NULL; each = each->next) {
    if (each->untracked || each->entry->generation != generation || generation == 0) continue;
    const dmprof_totals totals = totals_of(each->entry);
    sum.emitted += totals.emitted;
    sum.lost += totals.lost;
  }
  pthread_mutex_unlock(&state->lock);
  return sum;
}
