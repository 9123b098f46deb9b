// The one sum type of everything a recording can hold at high rate. Collectors and decoders produce it, the store keeps
// it, analyzers read it back as columns. Structs are plain data; dmprof/event/describe.h names every field once, and
// encoder, decoder, SQL tables and CSV export are generated from that description.
//
// Times are integer nanoseconds in the clock domain of the event's track; sizes are bytes. An id of 0 means "none".
#pragma once

#include <cstdint>
#include <variant>

namespace dmprof {

using TimeNs = std::int64_t;
using TrackId = std::uint32_t;  // row of the track table
using NameId = std::uint32_t;   // interned string, 0 = empty
using TierId = std::uint32_t;   // row of the tier (capacity) table, 0 = unknown

enum class Phase : std::uint8_t { none = 0, prefill = 1, decode = 2 };

// A named stretch of time. Contiguous phases of the SDK arrive as slices too.
struct Slice {
  TrackId track = 0;
  TimeNs start = 0;
  TimeNs duration = 0;
  NameId name = 0;
  std::uint32_t depth = 0;     // nesting level on its track, 0 = outermost
  std::uint64_t step = 0;      // decode step it belongs to, 0 = none
  std::uint64_t argument = 0;  // emitter-defined
};

struct Instant {
  TrackId track = 0;
  TimeNs time = 0;
  NameId name = 0;
  std::uint64_t argument = 0;
};

struct Counter {
  TrackId track = 0;
  TimeNs time = 0;
  NameId name = 0;
  double value = 0;
};

enum class RequestPoint : std::uint8_t { arrive = 0, schedule = 1, first_token = 2, preempt = 3, end = 4, fail = 5 };

// One point in a request's life. `tokens`: prompt tokens at arrive, tokens computed so far at preempt, output tokens at
// end.
struct RequestEvent {
  TrackId track = 0;
  TimeNs time = 0;
  std::uint64_t request = 0;
  RequestPoint point = RequestPoint::arrive;
  std::uint64_t tokens = 0;
  std::uint64_t cached_tokens = 0;  // prompt tokens served from a prefix cache (at schedule)
  NameId request_class = 0;         // emitter-defined class ("chat", "code"), 0 = none
};

// One forward step of the target over the whole batch, prefill and decode alike.
struct Step {
  TrackId track = 0;
  TimeNs start = 0;
  TimeNs duration = 0;
  std::uint64_t step = 0;             // unique within the process, from 1
  Phase phase = Phase::decode;        // a mixed batch is `prefill`
  std::uint32_t batch = 0;            // sequences in the batch
  std::uint32_t waiting = 0;          // requests that wait for admission at the start of the step
  std::uint32_t target_tokens = 0;    // tokens the target computed (N+1 per verified sequence)
  TimeNs draft_time = 0;              // candidate generation; stages are disjoint and lie inside the step
  TimeNs verify_time = 0;             // target forward pass, stalls included
  TimeNs accept_time = 0;             // acceptance, sampling
  std::uint64_t parameter_bytes = 0;  // parameter bytes the target pass read
  std::uint64_t kv_bytes = 0;         // KV bytes the target pass read
  std::uint64_t flops = 0;            // model FLOPs of the target pass
};

enum class DraftType : std::uint8_t { none = 0, model = 1, ngram = 2, head = 3, tree = 4 };
enum class StepCut : std::uint8_t { whole = 0, end_of_text = 1, max_tokens = 2, baseline = 3 };

// What one step did for one request. drafted >= verified >= accepted; emitted = accepted + 1 unless cut short.
struct SpeculationStep {
  TrackId track = 0;
  TimeNs time = 0;         // end of the step: the tokens exist now
  std::uint64_t step = 0;  // joins Step.step
  std::uint64_t request = 0;
  std::uint32_t position = 0;  // tokens in the sequence before the step
  std::uint32_t drafted = 0;   // draft tokens generated, discarded ones included
  std::uint32_t verified = 0;  // draft tokens the target checked
  std::uint32_t accepted = 0;  // draft tokens kept
  std::uint32_t emitted = 0;   // tokens the request received
  DraftType draft_type = DraftType::none;
  std::uint32_t tree_depth = 0;  // chains: = drafted
  std::uint32_t tree_nodes = 0;  // nodes verified; chains: = verified
  std::uint64_t path = 0;        // accepted path of a tree, 4 bits a level (child index), lowest level first
  StepCut cut = StepCut::whole;  // baseline: run without speculation on purpose, to measure c and v(n)
  TimeNs draft_time = 0;         // this request's share is not split: the stage's time while it was in the batch
  TimeNs verify_time = 0;
  TimeNs accept_time = 0;
};

enum class AccessOutcome : std::uint8_t { hit = 0, late = 1, miss = 2 };  // late: a prefetch of it was still in flight
enum class BlockOrigin : std::uint8_t { resident = 0, prefetched = 1, demand = 2 };
enum class Prediction : std::uint8_t { none = 0, right = 1, wrong = 2 };

// A demand access to a block of parameters or KV.
struct BlockAccess {
  TrackId track = 0;
  TimeNs time = 0;  // when the consumer asked
  std::uint64_t block = 0;
  TierId tier = 0;  // the managed tier that was asked
  AccessOutcome outcome = AccessOutcome::hit;
  BlockOrigin origin = BlockOrigin::resident;  // who brought the block: `prefetched` on its first use after a prefetch
  Prediction prediction = Prediction::none;    // did the transition matrix name this block as the next one
  Phase phase = Phase::none;
  std::uint32_t bytes =
      0;            // what the block takes in the tier, padding included: a replay must fill it as the cache did
  TimeNs wait = 0;  // time the consumer stood still, 0 for a hit
  std::uint64_t step = 0;
};

// displaced: `victim` was thrown out to make room for the prefetch of `block`; one event a victim, at the moment of the
// decision.
enum class PrefetchPoint : std::uint8_t { issued = 0, completed = 1, evicted_unused = 2, cancelled = 3, displaced = 4 };

struct Prefetch {
  TrackId track = 0;
  TimeNs time = 0;
  std::uint64_t block = 0;
  TierId tier = 0;  // destination
  PrefetchPoint point = PrefetchPoint::issued;
  std::uint32_t bytes = 0;
  std::uint64_t victim = 0;  // block that was thrown out for this one, plus 1; 0 = none
  std::uint64_t step = 0;
};

struct Transfer {
  TrackId track = 0;
  TimeNs start = 0;
  TimeNs duration = 0;
  TierId from = 0;
  TierId to = 0;
  std::uint64_t bytes = 0;
  std::uint64_t useful_bytes = 0;  // bytes somebody asked for; <= bytes
  std::uint64_t block = 0;
  std::uint32_t queue_depth = 0;  // requests in flight on the link when it started, itself included
};

struct Kernel {
  TrackId track = 0;
  TimeNs start = 0;
  TimeNs duration = 0;
  NameId name = 0;
  std::uint64_t flops = 0;
  std::uint64_t bytes = 0;
  TimeNs stall = 0;  // part of duration spent waiting for blocks
  std::uint64_t step = 0;
};

enum class Statistic : std::uint8_t {
  increase = 0,  // of a counter over the window
  gauge = 1,     // reading at the end of the window; the window is what the reading stands for
  bucket = 2,    // of a histogram: observations in the window that are <= bound
  count = 3,     // of a histogram or summary: observations in the window
  sum = 4,       // of a histogram or summary: their sum
  quantile = 5,  // of a summary: as the source states it, bound is the quantile (0..1)
};

// One figure that a source aggregated over a window [start, start + duration). A histogram over a window is one sample
// a bucket, its count and its sum, all with the same window, name and labels. Samples never pose as slices or counters.
struct AggregateSample {
  TrackId track = 0;
  TimeNs start = 0;
  TimeNs duration = 0;
  NameId name = 0;
  NameId labels = 0;  // the series, as the source writes it, sorted: engine="0",model="m"
  Statistic statistic = Statistic::gauge;
  double bound = 0;  // bucket: upper bound, included, +infinity for the last; quantile: which one; else 0
  double value = 0;  // in the source's own unit
};

using Event = std::variant<Slice, Instant, Counter, RequestEvent, Step, SpeculationStep, BlockAccess, Prefetch,
                           Transfer, Kernel, AggregateSample>;

}  // namespace dmprof
