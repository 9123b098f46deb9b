// L1 and the engines that fill it from L2: a block cache with a policy, prefetches in a queue with a bounded number
// under way, demand with priority. One store belongs to one card.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "dmprof/base/flat_map.h"
#include "dmprof/cachemodel/cache.h"
#include "samples/simcard/core/simulation.h"
#include "samples/simcard/memory/channels.h"

namespace dmprof::simcard {

using cachemodel::BlockId;
using cachemodel::FetchCause;

enum class Found : std::uint8_t { hit, late, miss };                // as DMPROF_HIT ...
enum class Origin : std::uint8_t { resident, prefetched, demand };  // as DMPROF_RESIDENT ...
enum class PrefetchPoint : std::uint8_t { issued, completed, evicted_unused, displaced };

struct PrefetchNotice {
  PrefetchPoint point = PrefetchPoint::issued;
  BlockId block = 0;
  std::uint64_t bytes = 0;
  BlockId victim = 0;  // of `displaced`: thrown out to make room for `block`; one notice a victim
};

struct BlockTransfer {
  BlockId block = 0;
  SimTime start = 0, end = 0;
  std::uint64_t bytes = 0;
  std::uint64_t useful = 0;     // that went on into arithmetic: all or nothing
  std::uint32_t under_way = 0;  // at its start, itself included
};

struct Asked {
  Found outcome = Found::hit;
  Origin origin = Origin::resident;
  SimTime ready = 0;  // now for a hit
  bool held = true;   // false: L1 had no room, the data passes by
};

class StoreListener {
 public:
  virtual ~StoreListener() = default;
  virtual void on_prefetch(const PrefetchNotice& notice) = 0;
  // Told when it is known whether the block was of use: at its arrival, its first use, its eviction, or settle().
  virtual void on_block_transfer(const BlockTransfer& transfer) = 0;
};

struct StoreStatistics {
  std::uint64_t hits = 0, late = 0, misses = 0;
  std::uint64_t prefetches = 0, prefetches_used = 0, evicted_unused = 0, dropped = 0;
  std::uint64_t displaced = 0;  // blocks thrown out to make room for a prefetch
  std::uint64_t demand_bytes = 0, prefetch_bytes = 0;
};

class Store : public Actor {
 public:
  // `block_bytes`: of the blocks that are prefetched.
  Store(Simulation& simulation, const MemoryParameters& parameters, std::uint64_t block_bytes,
        cachemodel::PolicyKind policy, Channels& channels, StoreListener* listener);

  // Asks for a prefetch. Smaller `order` goes first. `accesses_ahead` tells the policy when the block will be used.
  // `bytes`: where it is no block of the usual size.
  void expect(BlockId block, std::uint64_t order, std::uint64_t accesses_ahead, std::uint64_t bytes = 0);
  // Requests of the queue with a smaller order are no longer wanted; what is under way arrives all the same.
  void cancel_before(std::uint64_t order);

  // A demand access to a block of that size. One that is held stays in L1 until release().
  Asked ask(BlockId block, std::uint64_t bytes);
  void release(BlockId block);
  // What L1 gives to reads from now on, B/s; asked at the start of each stretch of reading.
  double bandwidth_for_reads();
  // The run is over: tells of the transfers that nobody has used so far.
  void settle();

  const StoreStatistics& statistics() const { return statistics_; }
  std::uint64_t resident_bytes() const { return cache_.resident_bytes(); }

  void on_event(std::uint32_t kind, std::uint64_t block) override;

 private:
  enum Event : std::uint32_t { arrived, landed };

  struct Flight {
    SimTime start = 0, ready = 0;
    std::uint64_t bytes = 0;
    FetchCause cause = FetchCause::demand;
    bool cached = true;  // false: no room was left, the data passes by
    std::uint32_t under_way = 0;
  };

  struct Queued {
    std::uint64_t order = 0, bytes = 0;
  };
  using Request = std::pair<std::uint64_t, BlockId>;  // order, block

  const Request* first_request();
  bool start_prefetch(BlockId block, std::uint64_t bytes);
  void pump();
  void note_evictions(const BlockId* prefetched);
  void tell_transfer(BlockId block, const Flight& flight, bool useful);
  SimTime demand(BlockId block, std::uint64_t bytes);
  SimTime fill(std::uint64_t bytes);
  void land(BlockId block);

  Simulation& simulation_;
  const MemoryParameters parameters_;
  std::uint64_t block_bytes_;
  Channels& channels_;
  StoreListener* listener_;
  cachemodel::BlockCache cache_;
  FlatMap<Flight> in_flight_;
  FlatMap<Flight> unused_;             // prefetches that arrived and were not used yet; kept for a listener only
  std::vector<Request> queue_;         // a heap; holds requests that were dropped or hurried, too
  FlatMap<Queued> queued_;             // by block: the request that counts
  std::vector<SimTime> demand_slots_;  // when each is free
  SimTime filled_ = 0;                 // when L1 has written what has come
  SimTime filling_ = 0, shared_ = 0;   // time that fills have taken since then
  double filled_share_ = 0;            // of the stretch before
  std::vector<cachemodel::Evicted> evicted_;
  std::uint32_t prefetching_ = 0, demanding_ = 0;
  bool blocked_ = false;  // the policy refused the first of the queue; something has to be used first
  StoreStatistics statistics_;
};

}  // namespace dmprof::simcard
