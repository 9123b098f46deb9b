#include "dmprof/cachemodel/replay.h"

#include <memory>
#include <vector>

#include "dmprof/cachemodel/cache.h"
#include "dmprof/cachemodel/transition.h"

namespace dmprof::cachemodel {

ReplayResult replay(std::span<const TraceAccess> trace, PolicyKind kind, std::uint64_t budget_bytes,
                    const PolicyOptions& options) {
  const auto matrix = std::make_shared<TransitionMatrix>();
  BlockCache cache(budget_bytes, make_policy(kind, matrix, options));
  std::vector<Evicted> evicted;
  ReplayResult result;
  for (const TraceAccess& access : trace) {
    if (kind == PolicyKind::prediction) matrix->observe(access.block);
    if (cache.access(access.block).resident) {
      ++result.hits;
      result.hit_bytes += access.bytes;
      continue;
    }
    ++result.misses;
    result.miss_bytes += access.bytes;
    evicted.clear();
    if (cache.admit(access.block, access.bytes, FetchCause::demand, evicted) == Admission::too_large)
      ++result.uncacheable;
  }
  return result;
}

}  // namespace dmprof::cachemodel
