/* Layout of everything the emitter and the collector share: the control page and the ring arena.
 *
 * dmprof/ring/FORMAT.md explains the protocol byte by byte. Two rules keep both sides safe from each other:
 *   - the collector never maps the control page (it uses pread and pwrite, so a truncated file cannot raise SIGBUS) and
 *     validates every index, length and string it reads;
 *   - the arena is a memfd of the collector, allocated in full before it is announced and sealed against shrinking.
 * Every number is in the byte order of the machine; the page never leaves it. Plain C11, usable from C++. */
#ifndef DMPROF_SDK_ABI_H_
#define DMPROF_SDK_ABI_H_

#include <stdint.h>

#define DMPROF_WIRE_MAGIC 0x3145474150504d44ull  /* "DMPPAGE1" */
#define DMPROF_ARENA_MAGIC 0x31474e4952504d44ull /* "DMPRING1" */
#define DMPROF_WIRE_VERSION 1u                   /* raised with every change of this file that is not an addition */

enum {
  DMPROF_MAX_TRACKS = 4096,     /* entries of the track table */
  DMPROF_MAX_NAMES = 4096,      /* interned strings; id 0 is the empty one */
  DMPROF_NAME_HEAP = 65536,     /* bytes of all names together */
  DMPROF_MAX_NAME_LENGTH = 255, /* longer names are cut */
  DMPROF_MAX_KNOBS = 64,
  DMPROF_MAX_CAPACITIES = 64,
  DMPROF_MAX_CLOCKS = 16, /* clock 0 is the host's */
  DMPROF_MAX_DEPTH = 63,  /* deeper spans, and phases in them, are dropped and counted */
  DMPROF_MAX_RINGS = 4096,
};

/* ---- Slots ---------------------------------------------------------------------------------------------------------
 * A ring is a power of two of 32-byte slots. An event takes one to three consecutive slots; the first begins with the
 * 16 bytes of dmprof_slot_head, the others are payload only. Times are raw readings of the track's clock. */
enum {
  DMPROF_KIND_SPAN = 1,    /* a span or phase without argument; time: its start, code: depth, a: step, b: duration */
  DMPROF_KIND_INSTANT = 4, /* a: step, b: argument */
  DMPROF_KIND_COUNTER = 5, /* a: step, b: the bits of a double */
  DMPROF_KIND_SLICE = 6,   /* 2 slots: a span with an argument, or one known only afterwards */
  DMPROF_KIND_REQUEST = 7, /* 2 slots */
  DMPROF_KIND_STEP = 8,    /* 3 slots */
  DMPROF_KIND_SPECULATION = 9,   /* 3 slots */
  DMPROF_KIND_BLOCK_ACCESS = 10, /* 2 slots */
  DMPROF_KIND_PREFETCH = 11,     /* 2 slots */
  DMPROF_KIND_TRANSFER = 12,     /* 2 slots */
  DMPROF_KIND_KERNEL = 13,       /* 2 slots */
};

typedef struct dmprof_slot_head {
  uint64_t time;
  uint32_t name;  /* interned name, or what the kind says */
  uint16_t track; /* index into the track table */
  uint8_t kind;
  uint8_t code; /* depth of a span, else what the kind says */
} dmprof_slot_head;

typedef struct dmprof_slot {
  dmprof_slot_head head;
  uint64_t a, b;
} dmprof_slot;

typedef struct dmprof_wire_slice {
  dmprof_slot_head head;
  uint64_t step, argument, duration;
  uint64_t depth;
  uint64_t unused[2];
} dmprof_wire_slice;

typedef struct dmprof_wire_request { /* name: request class; code: point */
  dmprof_slot_head head;
  uint64_t request, tokens, cached_tokens;
  uint64_t unused[3];
} dmprof_wire_request;

typedef struct dmprof_wire_step { /* name: batch; code: phase */
  dmprof_slot_head head;
  uint64_t step, duration, draft_time, verify_time, accept_time, parameter_bytes, kv_bytes, flops;
  uint32_t waiting, target_tokens;
  uint64_t unused;
} dmprof_wire_step;

typedef struct dmprof_wire_speculation { /* name: position; code: draft type */
  dmprof_slot_head head;
  uint64_t step, request, path, draft_time, verify_time, accept_time;
  uint32_t drafted, verified, accepted, emitted, tree_depth, tree_nodes;
  uint32_t cut, unused;
} dmprof_wire_speculation;

typedef struct dmprof_wire_block_access { /* name: tier; code: outcome */
  dmprof_slot_head head;
  uint64_t block, wait, step;
  uint32_t bytes;
  uint8_t origin, prediction, phase, unused0;
  uint64_t unused[2];
} dmprof_wire_block_access;

typedef struct dmprof_wire_prefetch { /* name: tier; code: point */
  dmprof_slot_head head;
  uint64_t block, victim, step;
  uint32_t bytes, unused0;
  uint64_t unused[2];
} dmprof_wire_prefetch;

typedef struct dmprof_wire_transfer { /* name: from */
  dmprof_slot_head head;
  uint64_t duration, bytes, useful_bytes, block;
  uint32_t to, queue_depth;
  uint64_t unused;
} dmprof_wire_transfer;

typedef struct dmprof_wire_kernel {
  dmprof_slot_head head;
  uint64_t duration, flops, bytes, stall, step;
  uint64_t unused;
} dmprof_wire_kernel;

/* ---- Arena: made by the collector, mapped by both -------------------------------------------------------------------
 * [dmprof_arena_header][ring_count x dmprof_ring_header] padded to 4096, then ring_count x ring_slots slots.
 * Only the first `rings_ready` rings have memory behind them; the number only grows. */
typedef struct dmprof_arena_header {
  uint64_t magic;
  uint32_t version;
  uint32_t generation;
  uint32_t ring_count;
  uint32_t ring_slots;  /* power of two */
  uint32_t rings_ready; /* collector, release */
  uint32_t offers;      /* collector: raised whenever a ring becomes free */
  uint32_t exhausted;   /* collector: 1 when no further ring will be made */
  uint32_t unused[55];
} dmprof_arena_header;

enum { DMPROF_RING_FREE = 0, DMPROF_RING_USED = 1, DMPROF_RING_ENDED = 2 };

typedef struct dmprof_ring_header {
  uint64_t head; /* emitter, release: slots written so far */
  uint64_t unused0[7];
  uint64_t tail; /* collector, release: slots read so far */
  uint64_t unused1[7];
  uint32_t state;   /* FREE -> USED, USED -> ENDED by the emitter; ENDED -> FREE by the collector */
  uint32_t waiting; /* emitter in lossless mode sleeps on `wake` */
  uint32_t wake;    /* collector: futex word, raised after draining a ring that has a waiter */
  uint32_t unused2[13];
  uint64_t unused3[8];
} dmprof_ring_header;

/* ---- Control page: made by the emitter ------------------------------------------------------------------------------
 */
enum { DMPROF_TRACK_FREE = 0, DMPROF_TRACK_LIVE = 1, DMPROF_TRACK_ENDED = 2 };

/* Why an event did not reach a ring. */
enum {
  DMPROF_LOSS_RING_FULL = 0,
  DMPROF_LOSS_NO_RING_MEMORY = 1, /* no ring was free, or the arena could not be mapped */
  DMPROF_LOSS_TOO_DEEP = 2,       /* a span nested deeper than DMPROF_MAX_DEPTH */
  DMPROF_LOSS_CAUSES = 4,
};

typedef struct dmprof_track_entry {
  uint64_t emitted; /* events since `generation` attached, lost ones included; a span or phase counts when it ends */
  uint64_t lost[DMPROF_LOSS_CAUSES];
  uint32_t state;
  uint32_t incarnation; /* raised whenever the entry is given to a new track */
  uint32_t generation;  /* attachment the counts belong to; 0: none yet */
  uint32_t clock;
  uint32_t ring;     /* ring index + 1, 0 = none */
  uint32_t open;     /* spans and phases that have begun and not ended */
  int64_t thread_id; /* kernel thread id; 0 for a track that is no thread */
  char name[56];     /* NUL-terminated unless full */
} dmprof_track_entry;

typedef struct dmprof_knob_entry {
  uint32_t sequence; /* odd while it is being written */
  uint32_t unused0;
  uint64_t since; /* host clock reading of the last change; 0: never changed */
  char name[48], value[128], type[16], range[64], how[16], handle[128], unit[16];
  uint8_t unused1[16];
} dmprof_knob_entry;

typedef struct dmprof_capacity_entry {
  uint32_t sequence;
  uint32_t rank, managed, units;
  uint64_t size_bytes;
  double datasheet_bandwidth, measured_bandwidth, peak_flops;
  char name[48], kind[24];
  uint64_t unused;
} dmprof_capacity_entry;

typedef struct dmprof_clock_entry {
  uint32_t kind; /* dmprof_clock_kind */
  uint32_t unused0;
  char name[56];
} dmprof_clock_entry;

typedef struct dmprof_name_entry {
  uint32_t offset, length; /* into the heap */
} dmprof_name_entry;

enum { DMPROF_SOURCE_TSC = 0, DMPROF_SOURCE_MONOTONIC = 1 };
enum { DMPROF_PAGE_LOSSLESS = 1u };
#define DMPROF_ACTIVE_UNPUBLISHED 0xffffffffu /* only inside a forked child: publish a page at the next event */

typedef struct dmprof_page_header {
  /* Identity: written before the page appears under its name. */
  uint64_t magic;
  uint32_t version, page_bytes;
  int64_t pid, parent_pid;
  uint64_t start_time; /* field 22 of /proc/PID/stat: tells a reused pid */
  uint32_t clock_source, flags;
  char engine[64], engine_version[32], session[96]; /* session: DMPROF_CONTROL of the environment */
  uint64_t unused0[26];
  /* Offset 448: counts the emitter raises (release) after the entry is complete. */
  uint32_t name_count, knob_count, capacity_count, clock_count, track_count, unused1;
  uint64_t untracked;     /* events lost because the track table was full */
  uint32_t table_version; /* raised with every change of a knob or capacity */
  uint32_t unused2[7];
  /* Offset 512: written by the collector. `active` comes last and is cleared first. */
  uint32_t active; /* 0: nobody attached; else the generation of the attachment */
  uint32_t last_generation;
  int64_t collector_pid;
  uint64_t collector_start_time;
  uint64_t arena_bytes;
  char arena_path[64];
  uint64_t unused3[52];
} dmprof_page_header; /* 1024 bytes */

typedef struct dmprof_page {
  dmprof_page_header header;
  dmprof_clock_entry clocks[DMPROF_MAX_CLOCKS];
  dmprof_knob_entry knobs[DMPROF_MAX_KNOBS];
  dmprof_capacity_entry capacities[DMPROF_MAX_CAPACITIES];
  dmprof_name_entry names[DMPROF_MAX_NAMES];
  char heap[DMPROF_NAME_HEAP];
  dmprof_track_entry tracks[DMPROF_MAX_TRACKS];
} dmprof_page;

#ifdef __cplusplus
#define DMPROF_ABI_ASSERT_(condition) static_assert(condition, #condition)
#else
#define DMPROF_ABI_ASSERT_(condition) _Static_assert(condition, #condition)
#endif
DMPROF_ABI_ASSERT_(sizeof(dmprof_slot) == 32);
DMPROF_ABI_ASSERT_(sizeof(dmprof_wire_slice) == 64);
DMPROF_ABI_ASSERT_(sizeof(dmprof_wire_request) == 64);
DMPROF_ABI_ASSERT_(sizeof(dmprof_wire_step) == 96);
DMPROF_ABI_ASSERT_(sizeof(dmprof_wire_speculation) == 96);
DMPROF_ABI_ASSERT_(sizeof(dmprof_wire_block_access) == 64);
DMPROF_ABI_ASSERT_(sizeof(dmprof_wire_prefetch) == 64);
DMPROF_ABI_ASSERT_(sizeof(dmprof_wire_transfer) == 64);
DMPROF_ABI_ASSERT_(sizeof(dmprof_wire_kernel) == 64);
DMPROF_ABI_ASSERT_(sizeof(dmprof_arena_header) == 256);
DMPROF_ABI_ASSERT_(sizeof(dmprof_ring_header) == 256);
DMPROF_ABI_ASSERT_(sizeof(dmprof_track_entry) == 128);
DMPROF_ABI_ASSERT_(sizeof(dmprof_knob_entry) == 448);
DMPROF_ABI_ASSERT_(sizeof(dmprof_capacity_entry) == 128);
DMPROF_ABI_ASSERT_(sizeof(dmprof_page_header) == 1024);

#endif /* DMPROF_SDK_ABI_H_ */
