// The tier a cache metric is about when nobody names one.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "analyzers/registry/view.h"

namespace dmprof::cache {

// The fastest managed tier among those asked; an unregistered tier only when no other was asked.
inline std::optional<TierId> fastest_tier(const View& view, const Scope& scope) {
  std::set<TierId> asked;
  std::optional<TierId> last;  // most accesses ask the tier that the one before asked
  view.each_access(scope, [&](const BlockAccess& access) {
    if (last != access.tier) asked.insert(*(last = access.tier));
  });
  std::optional<TierId> best;
  std::uint64_t best_rank = 0;
  for (const TierId tier : asked) {
    const auto found = view.recording().capacities.find(tier);
    const bool known = found != view.recording().capacities.end();
    const std::uint64_t rank =
        !known ? std::uint64_t{1} << 40 : found->second.rank + (found->second.managed ? 0 : std::uint64_t{1} << 33);
    if (!best || rank < best_rank) best = tier, best_rank = rank;
  }
  return best;
}

// The scope narrowed to one tier: its own, or the fastest managed one. Nothing when nothing was asked.
struct TierScope {
  Scope scope;
  std::string tier;
  TierId id = 0;
};
inline std::optional<TierScope> tier_scope(const View& view, const Scope& scope) {
  const std::optional<TierId> tier = scope.tier ? scope.tier : fastest_tier(view, scope);
  if (!tier) return std::nullopt;
  TierScope result{scope, view.recording().tier_name(*tier), *tier};
  result.scope.tier = *tier;
  return result;
}

}  // namespace dmprof::cache
