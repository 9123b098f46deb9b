/* The entries of the control page's track table. */
#include <string.h>

#include "dmprof/sdk/state.h"

static int entry_is_free(const dmprof_page* page, const dmprof_track_entry* entry) {
  const uint32_t state = __atomic_load_n(&entry->state, __ATOMIC_ACQUIRE);
  /* An ended track is kept for its collector to settle; when that one has left, the entry is free too. */
  return state == DMPROF_TRACK_FREE ||
         (state == DMPROF_TRACK_ENDED && entry->generation != __atomic_load_n(&page->header.active, __ATOMIC_ACQUIRE));
}

void dmprof_give_entry_(dmprof_state* state, dmprof_track* track, const char* name, uint32_t clock, int64_t thread) {
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
    return;
  }
  track->untracked = 1;
}
