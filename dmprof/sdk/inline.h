/* Hot paths of the SDK. Included by dmprof.h only; names that end in an underscore are private.
 *
 * Spans and phases reserve the slot of their end when they open, so a begin that was recorded always finds room for its
 * end: a full ring loses whole slices, never halves. */
#ifndef DMPROF_SDK_INLINE_H_
#define DMPROF_SDK_INLINE_H_

#include <string.h>
#include <time.h>

#include "dmprof/sdk/abi.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define DMPROF_LIKELY_(x) __builtin_expect(!!(x), 1)
#define DMPROF_UNLIKELY_(x) __builtin_expect(!!(x), 0)

/* The writing side of one ring; all tracks that share a ring share it. */
typedef struct dmprof_producer_ {
  dmprof_slot* slots;
  uint64_t mask;
  uint64_t head;
  uint64_t end;      /* head may reach end - reserved: last known tail + slots */
  uint64_t reserved; /* slots kept for the ends of open spans and phases */
  dmprof_ring_header* ring;
  /* Cold: see ring.c of this folder. */
  uint32_t generation, references;
  uint32_t denied_generation, denied_offers;
  uint32_t ring_index;
  struct dmprof_mapping_* mapping;
} dmprof_producer_;

struct dmprof_track {
  const uint32_t* active; /* of the control page */
  dmprof_producer_* producer;
  dmprof_track_entry* entry;
  uint32_t generation; /* attachment that `producer` and the masks below belong to */
  uint32_t level;
  uint64_t recorded; /* bit 0: the innermost open span reached the ring; bit 1: the one around it; ... */
  uint64_t phases;   /* the same for the phase that is open inside each level */
  uint64_t step;
  const uint64_t* clock; /* reading of an emitter's clock, NULL for the host's */
  uint16_t index;
  uint8_t monotonic; /* host clock without an invariant TSC */
  uint8_t untracked; /* the track table was full: events are only counted */
  /* Cold. */
  uint8_t thread_track;
  uint32_t clock_id;
  char name[56];
  struct dmprof_track* next;
};

extern __thread dmprof_track* dmprof_thread_track_;
dmprof_track* dmprof_thread_track_make_(void);
int dmprof_attach_(dmprof_track* track); /* 1: the track has a ring of the present attachment */
int dmprof_make_room_(dmprof_track* track, uint64_t slots);
void dmprof_drop_(dmprof_track* track, int cause);
uint64_t dmprof_monotonic_(void);

static inline dmprof_track* dmprof_thread_track(void) {
  dmprof_track* track = dmprof_thread_track_;
  return DMPROF_LIKELY_(track != 0) ? track : dmprof_thread_track_make_();
}

static inline uint32_t dmprof_active_(const dmprof_track* track) {
  return __atomic_load_n(track->active, __ATOMIC_RELAXED);
}

static inline int dmprof_enabled(void) { return dmprof_active_(dmprof_thread_track()) != 0; }

static inline uint64_t dmprof_now(const dmprof_track* track) {
  if (DMPROF_UNLIKELY_(track->clock != 0)) return __atomic_load_n(track->clock, __ATOMIC_RELAXED);
#if defined(__x86_64__)
  if (DMPROF_LIKELY_(!track->monotonic)) return __rdtsc();
#endif
  return dmprof_monotonic_();
}

static inline void dmprof_set_step(dmprof_track* track, uint64_t step) { track->step = step; }

/* Ready to write `slots` slots: attached, and room for them. `active` is known to be non-zero. */
static inline int dmprof_ready_(dmprof_track* track, uint32_t active, uint64_t slots) {
  if (DMPROF_UNLIKELY_(track->generation != active) && !dmprof_attach_(track)) return 0;
  const dmprof_producer_* producer = track->producer;
  if (DMPROF_LIKELY_(producer->end - producer->head >= producer->reserved + slots)) return 1;
  return dmprof_make_room_(track, slots);
}

static inline void dmprof_put_(dmprof_track* track, uint8_t kind, uint8_t code, uint32_t name, uint64_t a, uint64_t b) {
  dmprof_producer_* producer = track->producer;
  dmprof_slot* slot = &producer->slots[producer->head & producer->mask];
  slot->head.time = dmprof_now(track);
  slot->head.name = name;
  slot->head.track = track->index;
  slot->head.kind = kind;
  slot->head.code = code;
  slot->a = a;
  slot->b = b;
  __atomic_store_n(&producer->ring->head, ++producer->head, __ATOMIC_RELEASE);
}

static inline void dmprof_count_(dmprof_track* track) {
  __atomic_store_n(&track->entry->emitted, track->entry->emitted + 1, __ATOMIC_RELAXED);
}

static inline void dmprof_instant(dmprof_track* track, uint32_t name, uint64_t argument) {
  const uint32_t active = dmprof_active_(track);
  if (active == 0) return;
  if (DMPROF_UNLIKELY_(!dmprof_ready_(track, active, 1))) {
    dmprof_drop_(track, DMPROF_LOSS_RING_FULL);
    return;
  }
  dmprof_put_(track, DMPROF_KIND_INSTANT, 0, name, track->step, argument);
  dmprof_count_(track);
}

static inline void dmprof_counter(dmprof_track* track, uint32_t name, double value) {
  const uint32_t active = dmprof_active_(track);
  uint64_t bits;
  if (active == 0) return;
  if (DMPROF_UNLIKELY_(!dmprof_ready_(track, active, 1))) {
    dmprof_drop_(track, DMPROF_LOSS_RING_FULL);
    return;
  }
  memcpy(&bits, &value, sizeof bits);
  dmprof_put_(track, DMPROF_KIND_COUNTER, 0, name, track->step, bits);
  dmprof_count_(track);
}

static inline void dmprof_begin_arg(dmprof_track* track, uint32_t name, uint64_t argument) {
  const uint32_t active = dmprof_active_(track);
  if (active == 0) return;
  const int ready = dmprof_ready_(track, active, 2);
  if (DMPROF_UNLIKELY_(!ready || track->level >= DMPROF_MAX_DEPTH)) {
    dmprof_drop_(track, ready ? DMPROF_LOSS_TOO_DEEP : DMPROF_LOSS_RING_FULL);
    if (track->generation != active) return; /* no ring: the end will be ignored */
    if (track->level++ < DMPROF_MAX_DEPTH) {
      track->recorded <<= 1;
      track->phases <<= 1;
    }
    return;
  }
  dmprof_put_(track, DMPROF_KIND_BEGIN, (uint8_t)track->level, name, track->step, argument);
  track->producer->reserved++;
  track->level++;
  track->recorded = track->recorded << 1 | 1;
  track->phases <<= 1;
  dmprof_count_(track);
}

static inline void dmprof_begin(dmprof_track* track, uint32_t name) { dmprof_begin_arg(track, name, 0); }

static inline void dmprof_end(dmprof_track* track) {
  const uint32_t active = dmprof_active_(track);
  if (active == 0) return;
  if (DMPROF_UNLIKELY_(track->generation != active || track->level == 0)) return; /* began before the attachment */
  const uint32_t level = --track->level;
  if (DMPROF_UNLIKELY_(level >= DMPROF_MAX_DEPTH)) return;
  const uint64_t phase = track->phases & 1, recorded = track->recorded & 1;
  track->phases >>= 1;
  track->recorded >>= 1;
  if (DMPROF_LIKELY_(recorded)) {
    dmprof_put_(track, DMPROF_KIND_END, (uint8_t)level, 0, 0, 0);
  } else if (phase) { /* the span was dropped, a phase inside it was not */
    dmprof_put_(track, DMPROF_KIND_PHASE, (uint8_t)(level + 1), 0, 0, 0);
  }
  track->producer->reserved -= recorded + phase;
}

static inline void dmprof_phase(dmprof_track* track, uint32_t name) {
  const uint32_t active = dmprof_active_(track);
  if (active == 0) return;
  const uint64_t open = track->generation == active ? track->phases & 1 : 0;
  if (DMPROF_LIKELY_(name != 0)) {
    /* An open phase has reserved the slot that closes it; the new one takes that slot and reserves another. */
    const int ready = dmprof_ready_(track, active, 2 - open);
    if (DMPROF_LIKELY_(ready && track->level < DMPROF_MAX_DEPTH)) {
      dmprof_put_(track, DMPROF_KIND_PHASE, (uint8_t)track->level, name, track->step, 0);
      track->producer->reserved += 1 - open;
      track->phases |= 1;
      dmprof_count_(track);
      return;
    }
    dmprof_drop_(track, ready ? DMPROF_LOSS_TOO_DEEP : DMPROF_LOSS_RING_FULL);
  }
  if (track->generation != active || track->level >= DMPROF_MAX_DEPTH || !(track->phases & 1)) return;
  dmprof_put_(track, DMPROF_KIND_PHASE, (uint8_t)track->level, 0, 0, 0);
  track->producer->reserved--;
  track->phases &= ~(uint64_t)1;
}

#define DMPROF_TYPED_EVENT_(name)                                                                   \
  void dmprof_emit_##name##_(dmprof_track* track, const dmprof_##name##_event* event);              \
  static inline void dmprof_##name(dmprof_track* track, const dmprof_##name##_event* event) {       \
    if (dmprof_active_(track) != 0) dmprof_emit_##name##_(track, event);                            \
  }
DMPROF_TYPED_EVENT_(slice)
DMPROF_TYPED_EVENT_(request)
DMPROF_TYPED_EVENT_(step)
DMPROF_TYPED_EVENT_(speculation)
DMPROF_TYPED_EVENT_(block_access)
DMPROF_TYPED_EVENT_(prefetch)
DMPROF_TYPED_EVENT_(transfer)
DMPROF_TYPED_EVENT_(kernel)
#undef DMPROF_TYPED_EVENT_

#ifdef __cplusplus
}
#endif

#endif /* DMPROF_SDK_INLINE_H_ */
