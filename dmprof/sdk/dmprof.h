/* dmprof SDK: tell a profiler what an inference engine does. C11, usable from C++. Link libdmprof.a or libdmprof.so.
 *
 *   dmprof_options options = {.engine = "my-engine", .version = "1.0"};
 *   dmprof_init(&options);
 *   uint32_t draft = dmprof_name("draft"), verify = dmprof_name("verify");      // once
 *   dmprof_track* track = dmprof_thread_track();                               // once a thread
 *   dmprof_phase(track, draft); ...; dmprof_phase(track, verify); ...; dmprof_phase(track, 0);
 *
 * Cost: under a nanosecond while nobody is attached, about one time-stamp read per event while somebody is. No event
 * call blocks or allocates on the hot path, and no call raises a signal or ends the process. What does not fit into a
 * ring is dropped and counted; only lossless mode (DMPROF_LOSSLESS) waits, and stops waiting when the collector dies.
 * Of the calls that are no events dmprof_init and dmprof_ticks_to_ns may wait, see there, and those that register or
 * set something may wait for another thread that does the same.
 *
 * Times. A track belongs to one clock. On the host clock every time is a reading of dmprof_now() and every duration a
 * difference of two readings ("ticks"; the collector converts them). On a clock of the emitter (dmprof_clock_register)
 * every time is in nanoseconds and taken as it is. A `time` or `start` of 0 means "now" on the host clock.
 *
 * Threads. Functions that take a track may be called by one thread at a time per ring: the ring of a thread's own track
 * and of every named track that thread created without DMPROF_TRACK_OWN_RING. All other functions are thread-safe.
 * Sizes are bytes, rates are per second, an id of 0 means "none". Strings are copied, may be NULL (empty), UTF-8.
 * After fork() the child has an identity of its own, published at its first event; its thread track is a new one.
 * A child made by a raw clone() or vfork() must not emit before exec. */
#ifndef DMPROF_SDK_DMPROF_H_
#define DMPROF_SDK_DMPROF_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Life ------------------------------------------------------------------------------------------------------- */
enum { DMPROF_LOSSLESS = 1 }; /* virtual time: wait for room instead of dropping, so that every run is complete */

typedef struct dmprof_options {
  const char* engine;  /* name shown in recordings; NULL: the program's */
  const char* version; /* of the engine */
  uint32_t flags;      /* DMPROF_LOSSLESS or 0 */
} dmprof_options;

/* Publishes this process for collectors (see FORMAT.md). NULL: defaults. Returns 0, or an errno value when no control
 * page could be made: every other call still works and does nothing. Calling it again returns 0 and changes nothing.
 * When the environment has DMPROF_CONTROL (set by `dmprof run`) it waits for that recorder to attach, as long as it
 * lives and at most DMPROF_WAIT_ATTACH milliseconds (2000 where it is not set; 0: not at all; more than 10000 count as
 * 10000). */
int dmprof_init(const dmprof_options* options);

/* Withdraws the control page. Optional: runs at exit too. Later events are ignored; dmprof_init may be called again. */
void dmprof_shutdown(void);

/* 1 while a collector is attached. For engines that want to skip the work of computing arguments. */
static inline int dmprof_enabled(void);

/* ---- Names, clocks, tracks --------------------------------------------------------------------------------------- */
/* Interns a string (at most 255 bytes are kept); the same text gives the same id. Call it once per name and keep the
 * id. Returns 0 for an empty string, or when 4095 names or 64 KiB are used up. */
uint32_t dmprof_name(const char* text);

typedef enum dmprof_clock_kind {
  DMPROF_CLOCK_HOST = 0,
  DMPROF_CLOCK_VIRTUAL = 1,
  DMPROF_CLOCK_DEVICE = 2
} dmprof_clock_kind;
/* A clock of the emitter, in nanoseconds. Returns its id (1..15); 0 when none is left. */
uint32_t dmprof_clock_register(const char* name, dmprof_clock_kind kind);
/* Sets the reading that later events on the clock's tracks are stamped with. Ids that no clock can have are ignored. */
void dmprof_clock_set(uint32_t clock, uint64_t nanoseconds);

typedef struct dmprof_track dmprof_track;
/* The calling thread's track, on the host clock. Never NULL. Ends with the thread. */
static inline dmprof_track* dmprof_thread_track(void);
/* Renames the calling thread's track (default: the thread's name); a collector that knows the track already keeps the
 * old one. */
void dmprof_thread_name(const char* name);

enum { DMPROF_TRACK_OWN_RING = 1 }; /* may be used by a thread other than its creator */
/* A track that is no thread: an engine of a simulated card, a stream, a queue. Never NULL; when the table of 4096 is
 * full its events are counted as lost. */
dmprof_track* dmprof_track_create(const char* name, uint32_t clock, uint32_t flags);
void dmprof_track_end(dmprof_track* track);

/* Current time of the track's clock. */
static inline uint64_t dmprof_now(const dmprof_track* track);
/* Length of a difference of two dmprof_now() readings of the host clock, in nanoseconds (approximate: about 1e-4). It
 * may sleep, up to 20 ms, in a process that has not lived long enough for the rate of its time stamps to be known. */
double dmprof_ticks_to_ns(uint64_t ticks);

/* ---- High-rate events (inline) ------------------------------------------------------------------------------------
 */
/* Decode step that later spans, phases and instants of the track belong to; 0 = none. */
static inline void dmprof_set_step(dmprof_track* track, uint64_t step);
/* Spans nest, 63 deep, and are recorded when they end. An end without its begin is ignored; what is still open when the
 * recording stops is counted as lost ("unfinished"). */
static inline void dmprof_begin(dmprof_track* track, uint32_t name);
static inline void dmprof_begin_arg(dmprof_track* track, uint32_t name, uint64_t argument);
static inline void dmprof_end(dmprof_track* track);
/* Contiguous phases: one stamp closes the open phase of this nesting level and opens `name`; 0 only closes. */
static inline void dmprof_phase(dmprof_track* track, uint32_t name);
static inline void dmprof_instant(dmprof_track* track, uint32_t name, uint64_t argument);
static inline void dmprof_counter(dmprof_track* track, uint32_t name, double value);

/* ---- Domain events ------------------------------------------------------------------------------------------------
 * Field for field the structs of dmprof/event/event.h; zero-initialise and fill what is known. */
typedef struct dmprof_slice_event { /* a span known only afterwards */
  uint64_t start, duration;
  uint32_t name, depth;
  uint64_t step, argument;
} dmprof_slice_event;

enum {
  DMPROF_ARRIVE = 0,
  DMPROF_SCHEDULE = 1,
  DMPROF_FIRST_TOKEN = 2,
  DMPROF_PREEMPT = 3,
  DMPROF_REQUEST_END = 4,
  DMPROF_REQUEST_FAIL = 5
};
typedef struct dmprof_request_event {
  uint64_t time;
  uint64_t request;       /* unique within the process */
  uint8_t point;          /* DMPROF_ARRIVE ... */
  uint64_t tokens;        /* arrive: prompt tokens; preempt: tokens computed so far; end: output tokens */
  uint64_t cached_tokens; /* schedule: prompt tokens served from a prefix cache */
  uint32_t request_class; /* name, for example "chat" */
} dmprof_request_event;

enum { DMPROF_PHASE_NONE = 0, DMPROF_PREFILL = 1, DMPROF_DECODE = 2 };
typedef struct dmprof_step_event { /* one forward step of the target over the whole batch */
  uint64_t start, duration;
  uint64_t step;            /* unique within the process, from 1 */
  uint8_t phase;            /* a mixed batch is DMPROF_PREFILL */
  uint32_t batch;           /* sequences in the batch */
  uint32_t waiting;         /* requests that wait for admission at the start */
  uint32_t target_tokens;   /* tokens the target computed (N+1 per verified sequence) */
  uint64_t draft_time;      /* candidate generation; the stages are disjoint and lie inside the step */
  uint64_t verify_time;     /* target forward pass, stalls included */
  uint64_t accept_time;     /* acceptance, sampling */
  uint64_t parameter_bytes; /* read by the target pass */
  uint64_t kv_bytes;        /* read by the target pass */
  uint64_t flops;           /* model FLOPs of the target pass */
} dmprof_step_event;

enum {
  DMPROF_DRAFT_NONE = 0,
  DMPROF_DRAFT_MODEL = 1,
  DMPROF_DRAFT_NGRAM = 2,
  DMPROF_DRAFT_HEAD = 3,
  DMPROF_DRAFT_TREE = 4
};
enum { DMPROF_CUT_WHOLE = 0, DMPROF_CUT_END_OF_TEXT = 1, DMPROF_CUT_MAX_TOKENS = 2, DMPROF_CUT_BASELINE = 3 };
typedef struct dmprof_speculation_event { /* what one step did for one request; drafted >= verified >= accepted */
  uint64_t time;                          /* end of the step: the tokens exist now */
  uint64_t step, request;
  uint32_t position;   /* tokens in the sequence before the step */
  uint32_t drafted;    /* draft tokens generated, discarded ones included */
  uint32_t verified;   /* draft tokens the target checked */
  uint32_t accepted;   /* draft tokens kept */
  uint32_t emitted;    /* tokens the request received: accepted + 1 unless cut */
  uint8_t draft_type;  /* DMPROF_DRAFT_... */
  uint8_t cut;         /* DMPROF_CUT_...; baseline: run without speculation on purpose */
  uint32_t tree_depth; /* chains: = drafted */
  uint32_t tree_nodes; /* nodes verified; chains: = verified */
  uint64_t path;       /* accepted path of a tree, 4 bits a level (child index), lowest level first */
  uint64_t draft_time, verify_time, accept_time; /* the stage's time while the request was in the batch */
} dmprof_speculation_event;

enum { DMPROF_HIT = 0, DMPROF_LATE = 1, DMPROF_MISS = 2 };              /* late: a prefetch of it was still in flight */
enum { DMPROF_RESIDENT = 0, DMPROF_PREFETCHED = 1, DMPROF_DEMAND = 2 }; /* who brought the block */
enum { DMPROF_PREDICTION_NONE = 0, DMPROF_PREDICTION_RIGHT = 1, DMPROF_PREDICTION_WRONG = 2 };
typedef struct dmprof_block_access_event { /* a demand access to a block of parameters or KV */
  uint64_t time;                           /* when the consumer asked */
  uint64_t block;
  uint32_t tier; /* id from dmprof_capacity: the managed tier that was asked */
  uint8_t outcome, origin, prediction, phase;
  uint32_t bytes; /* what the block takes in the tier, padding included */
  uint64_t wait;  /* time the consumer stood still, 0 for a hit */
  uint64_t step;
} dmprof_block_access_event;

enum {
  DMPROF_PREFETCH_ISSUED = 0,
  DMPROF_PREFETCH_COMPLETED = 1,
  DMPROF_PREFETCH_EVICTED_UNUSED = 2,
  DMPROF_PREFETCH_CANCELLED = 3,
  DMPROF_PREFETCH_DISPLACED = 4 /* `victim` was thrown out for the prefetch of `block`; one event a victim */
};
typedef struct dmprof_prefetch_event {
  uint64_t time;
  uint64_t block;
  uint32_t tier; /* destination */
  uint8_t point;
  uint32_t bytes;
  uint64_t victim; /* block that was thrown out for this one, plus 1; 0 = none */
  uint64_t step;
} dmprof_prefetch_event;

typedef struct dmprof_transfer_event {
  uint64_t start, duration;
  uint32_t from, to; /* tiers */
  uint64_t bytes;
  uint64_t useful_bytes; /* bytes somebody asked for; <= bytes */
  uint64_t block;
  uint32_t queue_depth; /* requests in flight on the link at the start, itself included */
} dmprof_transfer_event;

typedef struct dmprof_kernel_event {
  uint64_t start, duration;
  uint32_t name;
  uint64_t flops, bytes;
  uint64_t stall; /* part of duration spent waiting for blocks */
  uint64_t step;
} dmprof_kernel_event;

static inline void dmprof_slice(dmprof_track* track, const dmprof_slice_event* event);
static inline void dmprof_request(dmprof_track* track, const dmprof_request_event* event);
static inline void dmprof_step(dmprof_track* track, const dmprof_step_event* event);
static inline void dmprof_speculation(dmprof_track* track, const dmprof_speculation_event* event);
static inline void dmprof_block_access(dmprof_track* track, const dmprof_block_access_event* event);
static inline void dmprof_prefetch(dmprof_track* track, const dmprof_prefetch_event* event);
static inline void dmprof_transfer(dmprof_track* track, const dmprof_transfer_event* event);
static inline void dmprof_kernel(dmprof_track* track, const dmprof_kernel_event* event);

/* ---- Knobs and capacities: facts about the engine, told again to every new collector
 * --------------------------------- */
typedef struct dmprof_knob { /* a setting that `diagnose --verify`, `whatif` and `tune` may turn */
  const char* name;          /* "lookahead" */
  const char* value;
  const char* type;   /* "integer", "real", "choice", "path" */
  const char* range;  /* "1..16", "0|1|2" */
  const char* how;    /* "environment", "flag", "file"; "fact": nothing turns it. A fact named model.… goes to the
                         recording's environment: layers, hidden, feed_forward, vocabulary, matrices (of a feed-forward
                         block), tied, attention ("mha", "gqa", "mla"), heads, kv_heads, head_size, latent, rotary,
                         weight_bytes and kv_bytes (of an element), parameter_bytes */
  const char* handle; /* DM_LOOKAHEAD, --lookahead, or the file's path */
  const char* unit;
} dmprof_knob;
/* Returns the knob's id (from 1), the same one when the name is known already; 0 when 64 are used up. */
uint32_t dmprof_knob_register(const dmprof_knob* knob);
/* Records a change of value as of now. Changes closer together than the collector's poll (milliseconds) may merge. An
 * id that no registration returned is ignored. */
void dmprof_knob_set(uint32_t knob, const char* value);

typedef struct dmprof_capacity_info { /* unknown figures stay 0 */
  const char* name;                   /* "resident", "dram", "backing", "compute" */
  const char* kind;                   /* "tier", "link", "compute", "speculation_engine" */
  uint32_t rank;                      /* tiers: 0 is the fastest */
  uint32_t managed;                   /* 1: blocks are cached in it by a policy */
  uint64_t size_bytes;
  double datasheet_bandwidth; /* B/s */
  double measured_bandwidth;  /* B/s, by calibration or by construction */
  double peak_flops;          /* FLOP/s */
  uint32_t units;             /* engines, modules, channels */
} dmprof_capacity_info;
/* Returns the id that events use as tier (from 1). The same name updates the entry and keeps its id; 0 when 64 are used
 * up. */
uint32_t dmprof_capacity(const dmprof_capacity_info* capacity);

/* ---- Own totals
 * ------------------------------------------------------------------------------------------------------ */
typedef struct dmprof_totals {
  uint64_t
      emitted;   /* events of the track (or process) since the present or last collector attached, lost ones included */
  uint64_t lost; /* of these, the ones that reached no ring */
} dmprof_totals;
/* Totals of one track, or with NULL of every track that is alive. */
dmprof_totals dmprof_emitted(const dmprof_track* track);

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus
/* ---- Shorthands (C11) -------------------------------------------------------------------------------------------- */
/* A domain event in one line; the arguments are evaluated only while a collector is attached:
 *   DMPROF_EMIT(track, kernel, DMPROF_SINCE(track, start), .name = matmul, .flops = flops); */
#define DMPROF_EMIT(track, event, ...) \
  (dmprof_active_(track) != 0 ? dmprof_##event(track, &(dmprof_##event##_event){__VA_ARGS__}) : (void)0)
/* The fields `start` and `duration` of something that began at `from`, a reading of dmprof_now(), and ends now. */
#define DMPROF_SINCE(track, from) .start = (from), .duration = dmprof_now(track) - (from)
#endif

#include "dmprof/sdk/inline.h" /* the hot paths; nothing in it is for direct use */

#endif /* DMPROF_SDK_DMPROF_H_ */
