// Streaming mode: models whose weights do not fit the resident budget. Blocks live in a backing store and pass through
// a cache of `resident_bytes`; a prefetch thread fetches the blocks that the transition matrix predicts, a demand miss
// makes the engine wait. Target and draft share one streamer: one budget, one link, one matrix, one id space.
//
// On dense weights the order of blocks is fixed, so the matrix is nearly exact after the first pass; what cannot be
// known is the embedding block of the next token and whether a draft pass or a verification follows. Nothing is made
// less predictable on purpose.
//
// What happens on an access, all of it counted:
//   hit    resident when asked: no wait
//   late   a prefetch was queued or in flight: waits for the rest of it (a queued one is started at once)
//   miss   neither: evicts what the policy names, transfers before any queued prefetch, waits
// The link moves one block at a time. A transfer that has begun is not interrupted.
//
// Thread-safety: every member may be called from any thread; a block is released once for each acquire. Destruction: no
// acquire may be running and no block may be held.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/cachemodel/policy.h"
#include "dmprof/cachemodel/transition.h"
#include "samples/engine/model/weights.h"
#include "samples/engine/streaming/backing.h"
#include "samples/engine/streaming/clock.h"
#include "samples/engine/streaming/observer.h"

namespace dmengine {

struct StreamingOptions {
  std::uint64_t resident_bytes = 0;  // memory for blocks, alignment included
  BackingSpec backing;
  dmprof::cachemodel::PolicyKind policy = dmprof::cachemodel::PolicyKind::prediction;
  std::uint32_t prefetch_distance = 8;  // accesses looked ahead; 0 = no prefetching
  std::uint32_t max_outstanding = 4;    // prefetches queued or in flight
  double least_probability = 0.2;       // of being needed within the distance; less is not prefetched
  // Blocks the engine may hold at once, over all models; lowered to half of what the budget has room for, so that the
  // other half is there for prefetches. Room for that many is kept free of prefetches in flight: a demand never waits
  // for room.
  std::uint32_t max_held = 4;
  unsigned matrix_order = 2;     // blocks of context, 1 or 2
  std::string load_transitions;  // file of an earlier run; empty = learn from nothing
};

// Counters since the start. Each that has a callback equals the number of those, once no call is in progress.
struct StreamingStats {
  std::uint64_t hits = 0;
  std::uint64_t late = 0;
  std::uint64_t misses = 0;
  std::uint64_t first_uses_of_prefetched = 0;  // hits and lates whose origin is `prefetched`
  std::uint64_t predicted_right = 0;
  std::uint64_t predicted_wrong = 0;
  std::uint64_t predicted_none = 0;
  std::uint64_t pollution_misses = 0;  // misses on a block that a prefetch evicted
  std::int64_t wait_ns = 0;
  std::uint64_t prefetches_issued = 0;
  std::uint64_t prefetches_completed = 0;
  std::uint64_t prefetches_evicted_unused = 0;
  std::uint64_t prefetches_cancelled = 0;
  std::uint64_t prefetches_displaced = 0;  // blocks thrown out to make room for a prefetch
  std::uint64_t prefetches_refused = 0;    // wanted but not issued: no room, or the policy preferred what is there
  std::uint64_t transfers = 0;
  std::uint64_t transfer_bytes = 0;
  std::int64_t transfer_ns = 0;  // the link's busy time

  std::uint64_t accesses() const { return hits + late + misses; }
};

class BlockStreamer {
 public:
  // One model after another: ids of models[0] start at 0, those of models[1] behind them. `observer` may be null; it
  // and `clock` must outlive the streamer. usage: a budget below the largest block (the message names the least), no
  // models. environment: a file that cannot be read. bad_input: a damaged transition file.
  static dmprof::Result<std::unique_ptr<BlockStreamer>> open(std::vector<std::shared_ptr<const ModelLayout>> models,
                                                             const StreamingOptions& options,
                                                             StreamObserver* observer = nullptr,
                                                             StreamClock& clock = monotonic_clock());
  // Cancels queued prefetches (and tells the observer), waits for the transfer in progress.
  ~BlockStreamer();
  BlockStreamer(const BlockStreamer&) = delete;
  BlockStreamer& operator=(const BlockStreamer&) = delete;

  // The weights of one model; lives as long as the streamer. acquire's errors: environment where the backing store
  // cannot be read (a later acquire tries again), usage where more blocks are held than max_held.
  WeightSource& weights(std::size_t model);
  BlockId block_id(std::size_t model, std::uint32_t block) const;
  std::uint64_t block_bytes(BlockId block) const;
  std::uint64_t blocks() const;  // of all models

  StreamingStats stats() const;
  std::string describe_backing() const;  // "throttle 2 GB/s, 20 us", "file, O_DIRECT", …
  std::uint64_t resident_bytes() const;  // the budget
  std::uint64_t used_bytes() const;      // of it, taken by blocks that are there or on their way
  // The link's nominal bandwidth in bytes per second; 0 for a file, whose speed has to be measured.
  double link_bandwidth() const;

  // Knobs while running. A smaller budget evicts at once; usage where it is below what max_held blocks need,
  // environment where blocks in use or in flight do not fit it at this moment.
  dmprof::Status set_resident_bytes(std::uint64_t bytes);
  void set_policy(dmprof::cachemodel::PolicyKind policy);
  void set_prefetch_distance(std::uint32_t accesses);
  void set_max_outstanding(std::uint32_t requests);

  dmprof::Status save_transitions(const std::string& path) const;

  // The two stages that follow accesses by themselves, for a caller that wants to run them at a moment of its own
  // (after verification, when the path taken is known). predict_path: the blocks needed soon, nearest first. schedule:
  // issues prefetches for those that are absent, within max_outstanding; returns how many.
  std::vector<dmprof::cachemodel::Predicted> predict_path() const;
  std::uint32_t schedule(const std::vector<dmprof::cachemodel::Predicted>& path);

 private:
  class Source;
  class Core;
  explicit BlockStreamer(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
  std::vector<std::unique_ptr<Source>> sources_;
};

}  // namespace dmengine
