/* Hot paths of the SDK. Included by dmprof.h only; names that end in an underscore are private.
 *
 * A span or phase is one slot, written when it ends; until then it waits in a frame of its track. So a full ring loses
 * whole slices, never halves, and a begin costs nothing but its time stamp. */
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
  uint64_t end; /* head may reach it: last known tail + slots */
  dmprof_ring_header* ring;
  /* Cold: see ring.c of this folder. */
  uint32_t generation, references;
  uint32_t denied_generation, denied_offers;
  uint32_t ring_index;
  uint32_t lossless;
  struct dmprof_mapping_* mapping;
} dmprof_producer_;

/* An open span and the phase that is open inside it. */
typedef struct dmprof_frame_ {
  uint64_t start, step, argument;
  uint64_t phase_start, phase_step;
  uint32_t name, phase; /* phase 0: none is open */
} dmprof_frame_;

struct dmprof_track {
  const uint32_t* active; /* of the control page */
  dmprof_producer_* producer;
  dmprof_track_entry* entry;
  uint32_t generation; /* attachment that `producer` and the frames belong to */
  uint32_t level;      /* open spans */
  uint32_t depth;      /* open spans and phases */
  uint16_t index;
  uint8_t monotonic; /* host clock without an invariant TSC */
  uint8_t untracked; /* the track table was full: events are only counted */
  uint64_t step;
  const uint64_t* clock;                      /* reading of an emitter's clock, NULL for the host's */
  dmprof_frame_ frames[DMPROF_MAX_DEPTH + 1]; /* [0]: outside of any span */
  /* Cold. */
  uint8_t thread_track;
  uint32_t clock_id;
  char name[56];
  struct dmprof_track* next;
};

extern __thread dmprof_track* dmprof_thread_track_;
dmprof_track* dmprof_thread_track_make_(void);
int dmprof_attach_(dmprof_track* track);                        /* 1: the track has a ring of the present attachment */
int dmprof_wait_for_room_(dmprof_track* track, uint64_t slots); /* lossless mode */
void dmprof_drop_(dmprof_track* track, int cause);              /* without a ring the cause becomes NO_RING_MEMORY */
void dmprof_end_with_argument_(dmprof_track* track, const dmprof_frame_* frame, uint32_t depth, uint64_t now);
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

/* 1: the track's state belongs to the present attachment. `active` is known to be non-zero. */
static inline int dmprof_attached_(dmprof_track* track, uint32_t active) {
  return DMPROF_LIKELY_(track->generation == active) || dmprof_attach_(track);
}

static inline int dmprof_has_room_(dmprof_track* track, uint64_t slots) {
  dmprof_producer_* producer = track->producer;
  if (DMPROF_LIKELY_(producer->end - producer->head >= slots)) return 1;
  const uint64_t tail = __atomic_load_n(&producer->ring->tail, __ATOMIC_ACQUIRE);
  if (producer->head - tail + slots <= producer->mask + 1) {
    producer->end = tail + producer->mask + 1;
    return 1;
  }
  return producer->lossless && dmprof_wait_for_room_(track, slots);
}

static inline void dmprof_count_(dmprof_track* track) {
  __atomic_store_n(&track->entry->emitted, track->entry->emitted + 1, __ATOMIC_RELAXED);
}

/* Writes an event of one slot. The track is attached and its ring has room. */
static inline void dmprof_put_(dmprof_track* track, uint64_t time, uint8_t kind, uint8_t code, uint32_t name,
                               uint64_t a, uint64_t b) {
  dmprof_producer_* producer = track->producer;
  dmprof_slot* slot = &producer->slots[producer->head & producer->mask];
  slot->head.time = time;
  slot->head.name = name;
  slot->head.track = track->index;
  slot->head.kind = kind;
  slot->head.code = code;
  slot->a = a;
  slot->b = b;
  __atomic_store_n(&producer->ring->head, ++producer->head, __ATOMIC_RELEASE);
  dmprof_count_(track);
}

/* Writes a span of one slot, or counts it as lost. The track is attached. */
static inline void dmprof_put_span_(dmprof_track* track, uint64_t start, uint64_t now, uint32_t depth, uint32_t name,
                                    uint64_t step) {
  if (DMPROF_LIKELY_(dmprof_has_room_(track, 1))) {
    dmprof_put_(track, start, DMPROF_KIND_SPAN, (uint8_t)depth, name, step, now - start);
  } else {
    uint64_t* lost = &track->entry->lost[DMPROF_LOSS_RING_FULL];
    __atomic_store_n(lost, *lost + 1, __ATOMIC_RELAXED);
    dmprof_count_(track);
  }
}

static inline void dmprof_open_(dmprof_track* track, uint32_t depth) {
  track->depth = depth;
  __atomic_store_n(&track->entry->open, depth, __ATOMIC_RELAXED);
}

static inline void dmprof_instant(dmprof_track* track, uint32_t name, uint64_t argument) {
  const uint32_t active = dmprof_active_(track);
  if (active == 0) return;
  if (DMPROF_UNLIKELY_(!dmprof_attached_(track, active) || !dmprof_has_room_(track, 1))) {
    dmprof_drop_(track, DMPROF_LOSS_RING_FULL);
    return;
  }
  dmprof_put_(track, dmprof_now(track), DMPROF_KIND_INSTANT, 0, name, track->step, argument);
}

static inline void dmprof_counter(dmprof_track* track, uint32_t name, double value) {
  const uint32_t active = dmprof_active_(track);
  uint64_t bits;
  if (active == 0) return;
  if (DMPROF_UNLIKELY_(!dmprof_attached_(track, active) || !dmprof_has_room_(track, 1))) {
    dmprof_drop_(track, DMPROF_LOSS_RING_FULL);
    return;
  }
  memcpy(&bits, &value, sizeof bits);
  dmprof_put_(track, dmprof_now(track), DMPROF_KIND_COUNTER, 0, name, track->step, bits);
}

static inline void dmprof_begin_arg(dmprof_track* track, uint32_t name, uint64_t argument) {
  const uint32_t active = dmprof_active_(track);
  if (active == 0) return;
  if (DMPROF_UNLIKELY_(!dmprof_attached_(track, active))) {
    dmprof_drop_(track, DMPROF_LOSS_NO_RING_MEMORY); /* its end will be ignored */
    return;
  }
  const uint32_t level = ++track->level;
  if (DMPROF_UNLIKELY_(level > DMPROF_MAX_DEPTH)) {
    dmprof_drop_(track, DMPROF_LOSS_TOO_DEEP);
    return;
  }
  dmprof_frame_* frame = &track->frames[level];
  frame->step = track->step;
  frame->argument = argument;
  frame->name = name;
  frame->phase = 0;
  dmprof_open_(track, track->depth + 1);
  frame->start = dmprof_now(track);
}

static inline void dmprof_begin(dmprof_track* track, uint32_t name) { dmprof_begin_arg(track, name, 0); }

static inline void dmprof_close_phase_(dmprof_track* track, dmprof_frame_* frame, uint64_t now) {
  dmprof_put_span_(track, frame->phase_start, now, track->depth - 1, frame->phase, frame->phase_step);
}

static inline void dmprof_end(dmprof_track* track) {
  const uint32_t active = dmprof_active_(track);
  if (active == 0) return;
  if (DMPROF_UNLIKELY_(track->generation != active || track->level == 0)) return; /* began before the attachment */
  const uint32_t level = track->level--;
  if (DMPROF_UNLIKELY_(level > DMPROF_MAX_DEPTH)) return;
  dmprof_frame_* frame = &track->frames[level];
  const uint64_t now = dmprof_now(track);
  if (DMPROF_UNLIKELY_(frame->phase != 0)) {
    dmprof_close_phase_(track, frame, now);
    dmprof_open_(track, track->depth - 1);
  }
  const uint32_t depth = track->depth - 1;
  if (DMPROF_LIKELY_(frame->argument == 0)) {
    dmprof_put_span_(track, frame->start, now, depth, frame->name, frame->step);
  } else {
    dmprof_end_with_argument_(track, frame, depth, now);
  }
  dmprof_open_(track, depth);
}

static inline void dmprof_phase(dmprof_track* track, uint32_t name) {
  const uint32_t active = dmprof_active_(track);
  if (active == 0) return;
  if (DMPROF_UNLIKELY_(!dmprof_attached_(track, active))) {
    if (name != 0) dmprof_drop_(track, DMPROF_LOSS_NO_RING_MEMORY);
    return;
  }
  if (DMPROF_UNLIKELY_(track->level > DMPROF_MAX_DEPTH)) {
    if (name != 0) dmprof_drop_(track, DMPROF_LOSS_TOO_DEEP);
    return;
  }
  dmprof_frame_* frame = &track->frames[track->level];
  const uint64_t now = dmprof_now(track);
  const uint32_t open = frame->phase != 0;
  if (DMPROF_LIKELY_(open)) dmprof_close_phase_(track, frame, now);
  frame->phase = name;
  frame->phase_start = now;
  frame->phase_step = track->step;
  if (DMPROF_UNLIKELY_(open != (name != 0))) dmprof_open_(track, track->depth + (name != 0) - open);
}

#define DMPROF_TYPED_EVENT_(name)                                                             \
  void dmprof_emit_##name##_(dmprof_track* track, const dmprof_##name##_event* event);        \
  static inline void dmprof_##name(dmprof_track* track, const dmprof_##name##_event* event) { \
    if (dmprof_active_(track) != 0) dmprof_emit_##name##_(track, event);                      \
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
