// L1 and the engines that fill it from L2: a block cache with a policy, prefetches in a queue with a bounded number
// under way, demand with priority. One store belongs to one card.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "dmprof/cachemodel/cache.h"
#include "samples/simcard/core/simulation.h"
#include "samples/simcard/memory/channels.h"

namespace dmprof::simcard {

using cachemodel::BlockId;
using cachemodel::FetchCause;

enum class Found : std::uint8_t { hit, late, miss };                // as DMPROF_HIT ...
enum class Origin : std::uint8_t { resident, prefetched, demand };  // as DMPROF_RESIDENT ...
enum class PrefetchPoint : std::uint8_t { issued, completed, evicted_unused };

struct Asked {
  Found outcome = Found::hit;
  Origin origin = Origin::resident;
  SimTime ready = 0;  // now for a hit
  bool held = true;   // false: L1 had no room, the data passes by
};

class StoreListener {
 public:
  virtual ~StoreListener() = default;
  virtual void on_prefetch(PrefetchPoint point, BlockId block, const BlockId* victim) = 0;
  virtual void on_block_transfer(BlockId block, FetchCause cause, SimTime start, SimTime end,
                                 std::uint32_t under_way) = 0;
};

struct StoreStatistics {
  std::uint64_t hits = 0, late = 0, misses = 0;
  std::uint64_t prefetches = 0, prefetches_used = 0, evicted_unused = 0, dropped = 0;
  std::uint64_t demand_bytes = 0, prefetch_bytes = 0;
};

class Store : public Actor {
 public:
  Store(Simulation& simulation, const MemoryParameters& parameters, std::uint64_t block_bytes,
        cachemodel::PolicyKind policy, Channels& channels, StoreListener* listener);

  // Asks for a prefetch. Smaller `order` goes first. `accesses_ahead` tells the policy when the block will be used.
  void expect(BlockId block, std::uint64_t order, std::uint64_t accesses_ahead);
  // Requests of the queue with a smaller order are no longer wanted; what is under way arrives all the same.
  void cancel_before(std::uint64_t order);

  // A demand access. A block that is held stays in L1 until release().
  Asked ask(BlockId block);
  void release(BlockId block);

  const StoreStatistics& statistics() const { return statistics_; }
  std::uint64_t resident_bytes() const { return cache_.resident_bytes(); }

  void on_event(std::uint32_t kind, std::uint64_t block) override;

 private:
  struct Flight {
    SimTime start = 0, ready = 0;
    FetchCause cause = FetchCause::demand;
    bool cached = true;  // false: no room was left, the data passes by
    std::uint32_t under_way = 0;
    BlockId victim = 0;  // plus 1; 0: none
  };

  bool start_prefetch(BlockId block);
  void pump();
  void note_evictions();
  SimTime demand(BlockId block);

  Simulation& simulation_;
  const MemoryParameters parameters_;
  std::uint64_t block_bytes_;
  Channels& channels_;
  StoreListener* listener_;
  cachemodel::BlockCache cache_;
  std::map<BlockId, Flight> in_flight_;
  std::set<std::pair<std::uint64_t, BlockId>> queue_;  // order, block
  std::map<BlockId, std::uint64_t> queued_;            // block -> order
  std::vector<SimTime> demand_slots_;                  // when each is free
  std::vector<cachemodel::Evicted> evicted_;
  std::uint32_t prefetching_ = 0, demanding_ = 0;
  bool blocked_ = false;  // the policy refused the first of the queue; something has to be used first
  StoreStatistics statistics_;
};

}  // namespace dmprof::simcard
