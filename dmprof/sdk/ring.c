/* Attaching a track to a ring of the collector's arena, and what happens when there is no room. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "dmprof/sdk/state.h"

static const uint64_t arena_limit = 1ull << 40;

static dmprof_ring_header* ring_headers(const struct dmprof_mapping_* mapping) {
  return (dmprof_ring_header*)(mapping->arena + 1);
}

static uint64_t slots_offset(uint64_t rings) {
  return (sizeof(dmprof_arena_header) + rings * sizeof(dmprof_ring_header) + 4095) & ~4095ull;
}

/* A collector of the same user made it, but a damaged one must not end the engine: sizes are checked against the file,
 * and the file must be sealed against shrinking. */
static int arena_is_sound(const dmprof_arena_header* arena, uint64_t bytes) {
  const uint64_t rings = arena->ring_count, slots = arena->ring_slots;
  return arena->magic == DMPROF_ARENA_MAGIC && arena->version == DMPROF_WIRE_VERSION && rings != 0 &&
         rings <= DMPROF_MAX_RINGS && slots != 0 && slots <= (1u << 28) && (slots & (slots - 1)) == 0 &&
         slots_offset(rings) + rings * slots * sizeof(dmprof_slot) <= bytes;
}

static void release_mapping(dmprof_state* state, struct dmprof_mapping_* mapping) {
  if (--mapping->references != 0) return;
  struct dmprof_mapping_** place = &state->mappings;
  while (*place != mapping) place = &(*place)->next;
  *place = mapping->next;
  munmap(mapping->arena, mapping->bytes);
  free(mapping);
}

void dmprof_forget_mappings_(dmprof_state* state) {
  while (state->mappings != NULL) {
    struct dmprof_mapping_* next = state->mappings->next;
    munmap(state->mappings->arena, state->mappings->bytes);
    free(state->mappings);
    state->mappings = next;
  }
}

/* Maps the arena that `active` announces; NULL when it cannot be used. */
static struct dmprof_mapping_* map_arena(dmprof_state* state, uint32_t active) {
  if (state->mappings != NULL && state->mappings->generation == active) return state->mappings;
  const dmprof_page_header* header = &state->page->header;
  char path[sizeof header->arena_path];
  dmprof_copy_text_(path, sizeof path, header->arena_path);
  const uint64_t bytes = header->arena_bytes;
  struct stat info;
  const int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return NULL;
  const int seals = fcntl(fd, F_GET_SEALS);
  const int sound = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() && seals >= 0 &&
                    (seals & F_SEAL_SHRINK) && bytes >= sizeof(dmprof_arena_header) && bytes <= arena_limit &&
                    (uint64_t)info.st_size >= bytes;
  void* memory = sound ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  close(fd);
  if (memory == MAP_FAILED) return NULL;
  const dmprof_arena_header* arena = memory;
  struct dmprof_mapping_* mapping = NULL;
  if (arena_is_sound(arena, bytes) && arena->generation == active) mapping = calloc(1, sizeof *mapping);
  if (mapping == NULL) {
    munmap(memory, bytes);
    return NULL;
  }
  mapping->arena = memory;
  mapping->bytes = bytes;
  mapping->generation = active;
  mapping->references = 1; /* the list's own; given up when a newer arena takes the front */
  mapping->next = state->mappings;
  state->mappings = mapping;
  if (mapping->next != NULL) release_mapping(state, mapping->next);
  return mapping;
}

void dmprof_release_producer_(dmprof_state* state, dmprof_producer_* producer) {
  if (producer->mapping == NULL) return;
  if (producer->ring != NULL) __atomic_store_n(&producer->ring->state, DMPROF_RING_ENDED, __ATOMIC_RELEASE);
  producer->ring = NULL;
  producer->generation = 0;
  release_mapping(state, producer->mapping);
  producer->mapping = NULL;
}

/* Gives the producer a ring of the mapping. Returns 0 when none is free; the offers seen before the search tell when to
 * try again. */
static int claim_ring(dmprof_state* state, dmprof_producer_* producer, struct dmprof_mapping_* mapping) {
  if (producer->mapping != mapping) {
    dmprof_release_producer_(state, producer);
    producer->mapping = mapping;
    mapping->references++;
  }
  dmprof_arena_header* arena = mapping->arena;
  const uint32_t offers = __atomic_load_n(&arena->offers, __ATOMIC_ACQUIRE);
  uint32_t ready = __atomic_load_n(&arena->rings_ready, __ATOMIC_ACQUIRE);
  if (ready > arena->ring_count) ready = arena->ring_count;
  for (uint32_t i = 0; i < ready; i++) {
    dmprof_ring_header* ring = &ring_headers(mapping)[i];
    uint32_t expected = DMPROF_RING_FREE;
    if (!__atomic_compare_exchange_n(&ring->state, &expected, DMPROF_RING_USED, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      continue;
    producer->ring = ring;
    producer->ring_index = i;
    producer->slots = (dmprof_slot*)((char*)arena + slots_offset(arena->ring_count)) + (uint64_t)i * arena->ring_slots;
    producer->mask = arena->ring_slots - 1;
    producer->head = ring->head;
    producer->end = ring->tail + arena->ring_slots;
    producer->lossless = state->flags & DMPROF_LOSSLESS;
    producer->generation = mapping->generation;
    return 1;
  }
  producer->denied_generation = mapping->generation;
  producer->denied_offers = offers;
  return 0;
}

/* The answer to "try again?" without a lock: what was denied stays denied until the collector offers another ring. */
static int still_denied(const dmprof_producer_* producer, uint32_t active) {
  if (producer->denied_generation != active) return 0;
  return producer->mapping == NULL ||
         __atomic_load_n(&producer->mapping->arena->offers, __ATOMIC_ACQUIRE) == producer->denied_offers;
}

static int collector_lives(const dmprof_state* state) {
  const dmprof_page_header* header = &state->page->header;
  return dmprof_process_lives_(header->collector_pid, header->collector_start_time);
}

/* Lossless mode: sleep a little. Returns 0 when waiting is over: detached, or the collector died and the engine goes on
 * alone. */
static int wait_a_moment(dmprof_state* state, uint32_t generation, uint32_t* futex_word, uint32_t value) {
  uint32_t* active = &state->page->header.active;
  if (__atomic_load_n(active, __ATOMIC_ACQUIRE) != generation) return 0;
  const struct timespec limit = {0, 10000000};
  if (futex_word != NULL) {
    if (syscall(SYS_futex, futex_word, FUTEX_WAIT, value, &limit, NULL, 0) == 0 || errno != ETIMEDOUT) return 1;
  } else {
    const struct timespec rest = {0, 1000000};
    nanosleep(&rest, NULL);
  }
  if (collector_lives(state)) return 1;
  __atomic_compare_exchange_n(active, &generation, 0, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  return 0;
}

static int attach_once(dmprof_state* state, dmprof_track* track) {
  int attached = 0;
  pthread_mutex_lock(&state->lock);
  uint32_t active = __atomic_load_n(track->active, __ATOMIC_ACQUIRE);
  if (active == DMPROF_ACTIVE_UNPUBLISHED) {
    __atomic_store_n(&state->page->header.active, 0, __ATOMIC_RELAXED);
    (void)dmprof_publish_(state); /* on failure the child stays unseen */
    active = __atomic_load_n(track->active, __ATOMIC_ACQUIRE);
  }
  if (active != 0) {
    dmprof_producer_* producer = track->producer;
    struct dmprof_mapping_* mapping = map_arena(state, active);
    if (track->entry->generation != active) {
      track->entry->emitted = 0;
      memset(track->entry->lost, 0, sizeof track->entry->lost);
      track->entry->ring = track->entry->open = 0;
      __atomic_store_n(&track->entry->generation, active, __ATOMIC_RELEASE);
    }
    if (mapping == NULL) {
      dmprof_release_producer_(state, producer);
      producer->denied_generation = active;
    } else if (producer->generation == active || claim_ring(state, producer, mapping)) {
      track->entry->ring = producer->ring_index + 1;
      track->level = track->depth = 0;
      track->frames[0].phase = 0;
      track->entry->open = 0;
      track->generation = active;
      attached = 1;
    }
  }
  pthread_mutex_unlock(&state->lock);
  return attached;
}

int dmprof_attach_(dmprof_track* track) {
  dmprof_state* state = dmprof_state_made_();
  if (state == NULL || track->untracked) return 0;
  for (;;) {
    const uint32_t active = __atomic_load_n(track->active, __ATOMIC_ACQUIRE);
    if (active == 0) return 0;
    if (track->entry->generation != active || !still_denied(track->producer, active)) {
      if (attach_once(state, track)) return 1;
    }
    const struct dmprof_mapping_* mapping = track->producer->mapping;
    if (!(state->flags & DMPROF_LOSSLESS) || mapping == NULL || mapping->generation != active) return 0;
    if (__atomic_load_n(&mapping->arena->exhausted, __ATOMIC_ACQUIRE) && still_denied(track->producer, active))
      return 0;
    if (!wait_a_moment(state, active, NULL, 0)) return 0;
  }
}

int dmprof_wait_for_room_(dmprof_track* track, uint64_t slots) {
  dmprof_producer_* producer = track->producer;
  dmprof_ring_header* ring = producer->ring;
  for (;;) {
    const uint32_t wake = __atomic_load_n(&ring->wake, __ATOMIC_SEQ_CST);
    const uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_SEQ_CST);
    if (producer->head - tail > producer->mask + 1) return 0; /* damaged: treat as full */
    producer->end = tail + producer->mask + 1;
    if (producer->end - producer->head >= slots) return 1;
    if (tail == producer->head) return 0;                                        /* empty, and still too small */
    if (__atomic_exchange_n(&ring->waiting, 1, __ATOMIC_SEQ_CST) == 0) continue; /* look once more, now announced */
    if (!wait_a_moment(dmprof_state_made_(), track->generation, &ring->wake, wake)) return 0;
  }
}

void dmprof_drop_(dmprof_track* track, int cause) {
  const uint32_t active = __atomic_load_n(track->active, __ATOMIC_RELAXED);
  if (active == 0 || active == DMPROF_ACTIVE_UNPUBLISHED) return;
  if (track->untracked) {
    dmprof_state* state = dmprof_state_made_();
    if (state != NULL) __atomic_fetch_add(&state->page->header.untracked, 1, __ATOMIC_RELAXED);
    return;
  }
  dmprof_track_entry* entry = track->entry;
  if (entry->generation != active) return; /* attached or detached this instant: not part of the recording */
  if (track->generation != active) cause = DMPROF_LOSS_NO_RING_MEMORY;
  __atomic_store_n(&entry->lost[cause], entry->lost[cause] + 1, __ATOMIC_RELAXED);
  __atomic_store_n(&entry->emitted, entry->emitted + 1, __ATOMIC_RELAXED);
}
