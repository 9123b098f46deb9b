#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "dmprof/sdk/state.h"

__thread dmprof_track* dmprof_thread_track_;

/* Stands in for a track when memory is short: never active, so nobody writes to it but dmprof_set_step. */
static const uint32_t never = 0;
static __thread dmprof_track null_track = {.active = &never};

static int entry_is_free(const dmprof_page* page, const dmprof_track_entry* entry) {
  const uint32_t state = __atomic_load_n(&entry->state, __ATOMIC_ACQUIRE);
  /* An ended track is kept for its collector to settle; when that one has left, the entry is free too. */
  return state == DMPROF_TRACK_FREE ||
         (state == DMPROF_TRACK_ENDED && entry->generation != __atomic_load_n(&page->header.active, __ATOMIC_ACQUIRE));
}

int dmprof_give_entry_(dmprof_state* state, dmprof_track* track, const char* name, uint32_t clock, int64_t thread) {
  dmprof_page* page = state->page;
  for (uint32_t tried = 0; tried < DMPROF_MAX_TRACKS; tried++) {
    const uint32_t index = (state->next_entry + tried) % DMPROF_MAX_TRACKS;
    dmprof_track_entry* entry = &page->tracks[index];
    if (!entry_is_free(page, entry)) continue;
    entry->emitted = 0;
    memset(entry->lost, 0, sizeof entry->lost);
    entry->generation = entry->ring = entry->open = 0;
    entry->incarnation++;
    entry->clock = clock;
    entry->thread_id = thread;
    dmprof_copy_text_(entry->name, sizeof entry->name, name);
    __atomic_store_n(&entry->state, DMPROF_TRACK_LIVE, __ATOMIC_RELEASE);
    if (index >= page->header.track_count) __atomic_store_n(&page->header.track_count, index + 1, __ATOMIC_RELEASE);
    state->next_entry = index + 1 < page->header.track_count ? index + 1 : 0;
    track->entry = entry;
    track->index = (uint16_t)index;
    track->untracked = 0;
    return 1;
  }
  track->untracked = 1;
  return 0;
}

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
  (void)dmprof_give_entry_(state, track, track->name, clock, thread);
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
  (void)pthread_setspecific(state->thread_key, track); /* on failure the track lives as long as the process */
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
    (void)pthread_setspecific(state->thread_key, NULL);
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
