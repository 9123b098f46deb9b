// Replays a recorded sequence of demand accesses against a cache of another policy or size, without prefetch: what
// `cache_policy_gap` and what-if ask.
#pragma once

#include <cstdint>
#include <span>

#include "dmprof/cachemodel/block.h"
#include "dmprof/cachemodel/policy.h"

namespace dmprof::cachemodel {

struct TraceAccess {
  BlockId block = 0;
  std::uint64_t bytes = 0;  // a resident block keeps the size it was fetched with
};

struct ReplayResult {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t hit_bytes = 0;
  std::uint64_t miss_bytes = 0;
  std::uint64_t uncacheable = 0;  // misses on blocks larger than the whole cache
  // Only of replay_optimum: all blocks have one size, so that no policy that keeps every missed block can do better.
  // With mixed sizes the problem is NP-hard and the figure is that of "farthest next use first", a good policy and no
  // bound.
  bool exact = false;

  double hit_rate() const {  // 0 for an empty trace; callers check hits + misses
    return hits + misses == 0 ? 0.0 : static_cast<double>(hits) / static_cast<double>(hits + misses);
  }
};

// The online policies. Policy 2 learns its own transition matrix while the trace goes by. O(log n) per access.
ReplayResult replay(std::span<const TraceAccess> trace, PolicyKind kind, std::uint64_t budget_bytes,
                    const PolicyOptions& options = {});

// Belady's offline optimum (1966): evicts the block whose next use is farthest. Like the policies, it must keep a block
// it missed. On a cyclic scan of W equal blocks with room for C < W it hits (C-1)/(W-1). O(n log n).
ReplayResult replay_optimum(std::span<const TraceAccess> trace, std::uint64_t budget_bytes);

}  // namespace dmprof::cachemodel
