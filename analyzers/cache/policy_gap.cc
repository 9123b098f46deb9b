// How far the cache policy is from the offline optimum on the accesses of this recording.
#include <algorithm>
#include <charconv>
#include <map>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "analyzers/cache/cache.h"
#include "analyzers/cache/tiers.h"
#include "analyzers/registry/reasons.h"
#include "dmprof/cachemodel/replay.h"

namespace dmprof {
namespace {

std::optional<cachemodel::PolicyKind> recorded_policy(const Recording& recording) {
  const std::optional<Knob> knob = recording.knob("cache_policy");
  if (!knob) return std::nullopt;
  const char* const end = knob->value.data() + knob->value.size();
  std::uint64_t policy = 0;
  const auto [stop, error] = std::from_chars(knob->value.data(), end, policy);
  if (error != std::errc() || stop != end) return std::nullopt;
  return cachemodel::policy_from(policy);
}

void add(cachemodel::ReplayResult& sum, const cachemodel::ReplayResult& each) {
  sum.hits += each.hits, sum.misses += each.misses;
  sum.exact = sum.exact && each.exact;
}

MetricValue policy_gap(const View& view, const Scope& scope) {
  const std::optional<cache::TierScope> tier = cache::tier_scope(view, scope);
  if (!tier) return unavailable(reasons::no_accesses(view));
  const auto capacity = view.recording().capacities.find(tier->id);
  if (capacity == view.recording().capacities.end() || capacity->second.size_bytes == 0) {
    return unavailable(fmt::format("the size of {} is not registered", tier->tier));
  }
  const std::optional<cachemodel::PolicyKind> policy = recorded_policy(view.recording());
  if (!policy) return unavailable("the engine registers no knob cache_policy with a value of 0, 1 or 2");
  // Several cards have a cache each; the tier's size is that of all of them.
  std::map<std::size_t, std::vector<cachemodel::TraceAccess>> traces;
  view.each_access(tier->scope, [&](const BlockAccess& access) {
    traces[view.unit_of(access.track)].push_back({access.block, access.bytes});
  });
  if (traces.empty()) return unavailable(reasons::no_accesses(view));
  const std::uint64_t caches = view.units() > 1 ? std::max(capacity->second.units, 1u) : 1;
  const std::uint64_t budget = capacity->second.size_bytes / caches;
  cachemodel::ReplayResult recorded, optimum;
  optimum.exact = true;
  for (const auto& [unit, trace] : traces) {
    add(recorded, cachemodel::replay(trace, *policy, budget));
    add(optimum, cachemodel::replay_optimum(trace, budget));
  }
  // With blocks of several sizes the optimum's stand-in can lose to a lucky policy; a gap below 0 is then no gap.
  MetricValue value = scalar(std::max(0.0, optimum.hit_rate() - recorded.hit_rate()), recorded.hits + recorded.misses);
  value.subject = tier->tier;
  value.reason =
      optimum.exact ? "" : "blocks differ in size: the optimum is that of farthest next use first, not a bound";
  value.beside = {{"offline optimum", "ratio", optimum.hit_rate()},
                  {fmt::format("policy {}", cachemodel::name_of(*policy)), "ratio", recorded.hit_rate()}};
  return value;
}

}  // namespace

void register_policy_gap(Catalogue& catalogue) {
  catalogue.add({.name = "cache_policy_gap",
                 .unit = "ratio",
                 .definition = "hit rate of the offline optimum (Belady) - hit rate of the recorded policy, both "
                               "replayed on the recorded demand "
                               "accesses without prefetch, from an empty cache of the tier's size",
                 .needs = "block accesses, the managed tier's size, the knob cache_policy",
                 .events = Events::accesses | Events::steps | Events::speculation,
                 .direction = Direction::lower_is_better,
                 .by = {By::tier, By::phase},
                 .keeps_baseline = true,
                 .compute = policy_gap});
}

}  // namespace dmprof
