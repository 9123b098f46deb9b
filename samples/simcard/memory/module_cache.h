// L0: the memory beside the modules, as a cache of blocks in front of L1. The modules work in lockstep, each on its
// part of a block, so that one directory stands for all of them; sizes are of whole blocks. It is hardware: least
// recently used goes first, nothing is prefetched into it, DM_CACHE_POLICY does not reach it, and who prefetches into
// L1 does not know what it holds.
#pragma once

#include <cstdint>
#include <vector>

#include "dmprof/cachemodel/cache.h"

namespace dmprof::simcard {

struct ModuleCacheStatistics {
  std::uint64_t hits = 0, misses = 0;
  std::uint64_t hit_bytes = 0;
  // What came in has gone or is there: filled = evicted + resident.
  std::uint64_t filled_bytes = 0, evicted_bytes = 0, resident_bytes = 0;
};

class ModuleCache {
 public:
  // `bytes`: what blocks may take of all modules' memories together; blocks that are larger are never held.
  explicit ModuleCache(std::uint64_t bytes) : cache_(bytes, cachemodel::make_policy(cachemodel::PolicyKind::lru)) {}

  // A demand access: is the block there?
  bool ask(cachemodel::BlockId block, std::uint64_t bytes) {
    const bool hit = cache_.access(block).resident;
    ++(hit ? statistics_.hits : statistics_.misses);
    if (hit) statistics_.hit_bytes += bytes;
    return hit;
  }
  // An absent block was used: it stays where it fits.
  void fill(cachemodel::BlockId block, std::uint64_t bytes) {
    evicted_.clear();
    if (cache_.admit(block, bytes, cachemodel::FetchCause::demand, evicted_) != cachemodel::Admission::admitted) return;
    statistics_.filled_bytes += bytes;
    for (const cachemodel::Evicted& each : evicted_) statistics_.evicted_bytes += each.bytes;
    statistics_.resident_bytes = cache_.resident_bytes();
  }
  const ModuleCacheStatistics& statistics() const { return statistics_; }

 private:
  cachemodel::BlockCache cache_;
  std::vector<cachemodel::Evicted> evicted_;
  ModuleCacheStatistics statistics_;
};

}  // namespace dmprof::simcard
