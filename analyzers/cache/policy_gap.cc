// How far the cache policy is from the offline optimum on the accesses of this recording.
#include <algorithm>
#include <charconv>
#include <map>
#include <system_error>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "analyzers/cache/cache.h"
#include "analyzers/registry/reasons.h"
#include "analyzers/registry/tiers.h"
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

// The accesses replayed without prefetch, once for the metrics that ask.
struct Replayed {
  std::string lacking;  // why there is no replay, "" when there is
  std::string tier;
  std::uint64_t accesses = 0;
  std::optional<cachemodel::PolicyKind> policy;
  double optimum = 0, recorded = 0;  // hit rates; recorded: of the policy, where it is known
  bool exact = true;
  double working_set = 0;  // bytes of the distinct blocks / size of the tier
};

Replayed replay(const View& view, const Scope& scope) {
  Replayed result;
  const std::optional<cache::TierScope> tier = cache::tier_scope(view, scope);
  if (!tier) {
    result.lacking = reasons::no_accesses(view);
    return result;
  }
  result.tier = tier->tier;
  const auto capacity = view.recording().capacities.find(tier->id);
  if (capacity == view.recording().capacities.end() || capacity->second.size_bytes == 0) {
    result.lacking = fmt::format("the size of {} is not registered", tier->tier);
    return result;
  }
  // Several cards have a cache each; the tier's size is that of all of them.
  std::map<std::size_t, std::vector<cachemodel::TraceAccess>> traces;
  view.each_access(tier->scope, [&](const BlockAccess& access) {
    traces[view.unit_of(access.track)].push_back({access.block, access.bytes});
  });
  if (traces.empty()) {
    result.lacking = reasons::no_accesses(view);
    return result;
  }
  const std::uint64_t caches = view.units() > 1 ? std::max(capacity->second.units, 1u) : 1;
  const std::uint64_t budget = capacity->second.size_bytes / caches;
  result.policy = recorded_policy(view.recording());
  cachemodel::ReplayResult recorded, optimum;
  optimum.exact = true;
  double distinct = 0;
  for (const auto& [unit, trace] : traces) {
    if (result.policy) add(recorded, cachemodel::replay(trace, *result.policy, budget));
    add(optimum, cachemodel::replay_optimum(trace, budget));
    std::unordered_map<std::uint64_t, std::uint32_t> blocks;
    for (const cachemodel::TraceAccess& access : trace) blocks[access.block] = access.bytes;
    for (const auto& [block, bytes] : blocks) distinct += bytes;
  }
  result.accesses = optimum.hits + optimum.misses;
  if (result.policy) result.recorded = recorded.hit_rate();
  result.optimum = optimum.hit_rate(), result.exact = optimum.exact;
  result.working_set = distinct / static_cast<double>(budget) / static_cast<double>(traces.size());
  return result;
}

Replayed replay_of(const View& view, const Scope& scope) {
  if (scope.range || scope.request || scope.tier || scope.phase != Phase::decode) return replay(view, scope);
  return view.shared<Replayed>([&] { return replay(view, scope); });
}

MetricValue about(double number, const Replayed& replayed) {
  MetricValue value = scalar(number, replayed.accesses);
  value.subject = replayed.tier;
  value.reason =
      replayed.exact ? "" : "blocks differ in size: the optimum is that of farthest next use first, not a bound";
  return value;
}

MetricValue policy_gap(const View& view, const Scope& scope) {
  const Replayed replayed = replay_of(view, scope);
  if (!replayed.lacking.empty()) return unavailable(replayed.lacking);
  if (!replayed.policy) return unavailable("the engine registers no knob cache_policy with a value of 0, 1 or 2");
  // With blocks of several sizes the optimum's stand-in can lose to a lucky policy; a gap below 0 is then no gap.
  MetricValue value = about(std::max(0.0, replayed.optimum - replayed.recorded), replayed);
  value.beside = {{"offline optimum", "ratio", replayed.optimum},
                  {fmt::format("policy {}", cachemodel::name_of(*replayed.policy)), "ratio", replayed.recorded}};
  return value;
}

MetricValue optimum(const View& view, const Scope& scope) {
  const Replayed replayed = replay_of(view, scope);
  return replayed.lacking.empty() ? about(replayed.optimum, replayed) : unavailable(replayed.lacking);
}

MetricValue working_set(const View& view, const Scope& scope) {
  const Replayed replayed = replay_of(view, scope);
  if (!replayed.lacking.empty()) return unavailable(replayed.lacking);
  MetricValue value = scalar(replayed.working_set, replayed.accesses);
  value.subject = replayed.tier;
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
  const auto add = [&](const char* name, const char* unit, const char* definition, Direction direction,
                       MetricValue (*compute)(const View&, const Scope&)) {
    catalogue.add({.name = name,
                   .unit = unit,
                   .definition = definition,
                   .needs = "block accesses, the managed tier's size",
                   .events = Events::accesses | Events::steps | Events::speculation,
                   .direction = direction,
                   .by = {By::tier, By::phase},
                   .keeps_baseline = true,
                   .compute = compute});
  };
  add("cache_optimum_hit_rate", "ratio",
      "hit rate of the offline optimum (Belady) replayed on the recorded demand accesses without prefetch, from an "
      "empty cache of the tier's size: what no policy can pass",
      Direction::higher_is_better, optimum);
  add("cache_working_set", "x", "bytes of the distinct blocks that were asked for / size of the tier", Direction::none,
      working_set);
}

}  // namespace dmprof
