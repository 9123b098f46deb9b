// The tier a cache metric is about when nobody names one.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "analyzers/registry/view.h"

namespace dmprof::cache {

// The fastest managed tier among those asked; an unregistered tier only when no other was asked.
inline std::optional<TierId> fastest_tier(const View& view, const std::vector<BlockAccess>& accesses) {
  std::set<TierId> asked;
  for (const BlockAccess& access : accesses) asked.insert(access.tier);
  std::optional<TierId> best;
  std::uint64_t best_rank = 0;
  for (const TierId tier : asked) {
    const auto found = view.recording().capacities.find(tier);
    const bool known = found != view.recording().capacities.end();
    const std::uint64_t rank = !known ? std::uint64_t{1} << 40 : found->second.rank + (found->second.managed ? 0 : std::uint64_t{1} << 33);
    if (!best || rank < best_rank) best = tier, best_rank = rank;
  }
  return best;
}

// Accesses of one tier: the scope's, or the fastest managed one.
struct TierAccesses {
  std::vector<BlockAccess> accesses;
  std::string tier;
  TierId id = 0;
};
inline TierAccesses accesses_of_tier(const View& view, const Scope& scope) {
  TierAccesses result;
  result.accesses = view.accesses(scope);
  const std::optional<TierId> tier = scope.tier ? scope.tier : fastest_tier(view, result.accesses);
  if (!tier) return result;
  result.id = *tier;
  result.tier = view.recording().tier_name(*tier);
  std::erase_if(result.accesses, [&](const BlockAccess& access) { return access.tier != *tier; });
  return result;
}

}  // namespace dmprof::cache
