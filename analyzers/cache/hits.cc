// Who found a block where it was asked for, who had predicted it, and prompts served from a prefix cache.
#include <map>

#include "analyzers/cache/cache.h"
#include "analyzers/registry/reasons.h"
#include "analyzers/registry/statistics.h"
#include "analyzers/registry/tiers.h"

namespace dmprof {
namespace {

MetricValue hit_rate(const View& view, const Scope& scope) {
  const std::optional<cache::TierScope> tier = cache::tier_scope(view, scope);
  if (!tier) return unavailable(reasons::no_accesses(view));
  RatioEstimate estimate;
  double by_prefetch = 0, late = 0, bytes = 0;
  view.each_access(tier->scope, [&](const BlockAccess& access) {
    const bool hit = access.outcome == AccessOutcome::hit;
    estimate.add(hit ? 1 : 0, 1);
    if (hit && access.origin == BlockOrigin::prefetched) ++by_prefetch;
    if (access.outcome == AccessOutcome::late) ++late;
    if (hit) bytes += access.bytes;
  });
  if (estimate.samples() == 0) return unavailable(reasons::no_accesses(view));
  MetricValue value = ratio_value(estimate);
  value.subject = tier->tier;
  const double all = estimate.denominator();
  value.beside = {{"owed to prefetch", "ratio", by_prefetch / all},
                  {"owed to residency", "ratio", (estimate.numerator() - by_prefetch) / all},
                  {"late", "ratio", late / all},
                  {"missed", "ratio", (all - estimate.numerator() - late) / all},
                  {"bytes hit", "B", bytes}};
  return value;
}

// Of the managed tiers below the fastest that was asked.
MetricValue offload_hits(const View& view, const Scope& scope) {
  const std::optional<TierId> fastest = cache::fastest_tier(view, scope);
  if (!fastest) return unavailable(reasons::no_accesses(view));
  std::map<TierId, double> hits;
  double asked = 0;
  view.each_access(scope, [&](const BlockAccess& access) {
    if (access.tier == *fastest) {
      ++asked;
      return;
    }
    const auto capacity = view.recording().capacities.find(access.tier);
    if (capacity == view.recording().capacities.end() || !capacity->second.managed) return;
    hits[access.tier] += access.outcome == AccessOutcome::hit ? 1 : 0;
  });
  for (const auto& [id, capacity] : view.recording().capacities) {
    if (capacity.managed && id != *fastest) hits.try_emplace(id, 0);
  }
  if (hits.empty()) return unavailable("there is one managed tier only: nothing is offloaded to another");
  double served = 0;
  MetricValue value = scalar(0, static_cast<std::uint64_t>(asked));
  for (const auto& [tier, count] : hits) {
    served += count;
    value.subject += (value.subject.empty() ? "" : ", ") + view.recording().tier_name(tier);
  }
  // What misses in one tier asks the next: more served there than was asked for at the top is an error of the
  // instrument, and left for the guard to call so.
  value.value = served / asked;
  return value;
}

MetricValue path_prediction(const View& view, const Scope& scope) {
  RatioEstimate estimate;
  view.each_access(scope, [&](const BlockAccess& access) {
    if (access.prediction != Prediction::none) estimate.add(access.prediction == Prediction::right ? 1 : 0, 1);
  });
  if (estimate.samples() > 0) return ratio_value(estimate);
  return unavailable(view.recording().accesses.empty()
                         ? reasons::no_accesses(view)
                         : "no access carries a prediction: the engine has no transition matrix, or it was off");
}

bool has_prefix_cache(const Recording& recording) {
  for (const Knob& knob : recording.knobs) {
    if (knob.name.find("prefix_cach") != std::string::npos && knob.value != "off" && knob.value != "0") return true;
  }
  return false;
}

MetricValue prefix_hit_rate(const View& view, const Scope& scope) {
  std::map<std::uint64_t, std::uint64_t> prompt;  // waiting for their first schedule
  RatioEstimate estimate;
  view.each_request_event(scope, [&](const RequestEvent& event) {
    if (event.point == RequestPoint::arrive) prompt[event.request] = event.tokens;
    if (event.point != RequestPoint::schedule) return;
    const auto found = prompt.find(event.request);
    if (found == prompt.end()) return;  // scheduled again after preemption: recomputation is no hit
    const bool inside = !scope.range || scope.range->overlaps(event.time, event.time);
    if (inside && found->second > 0)
      estimate.add(static_cast<double>(event.cached_tokens), static_cast<double>(found->second), found->second);
    prompt.erase(found);
  });
  if (view.recording().requests.empty()) return unavailable(reasons::no_requests(view));
  if (estimate.denominator() <= 0)
    return unavailable("no request with its arrival and its first schedule is in the recording");
  if (estimate.numerator() == 0 && !has_prefix_cache(view.recording())) {
    return unavailable("no request reports cached tokens and the engine registers no prefix cache");
  }
  MetricValue value = ratio_value(estimate);
  value.window = "first computation of every prompt";
  return value;
}

}  // namespace

void register_hits(Catalogue& catalogue) {
  const Events events = Events::accesses | Events::steps | Events::speculation;
  catalogue.add(
      {.name = "prefetch_hit_rate",
       .unit = "ratio",
       .definition =
           "demand accesses of decode whose block was resident when asked / all demand accesses of decode; a block "
           "still in "
           "flight is no hit; of the fastest managed tier that was asked, which is named, unless broken down by tier",
       .needs = "block accesses",
       .events = events,
       .direction = Direction::higher_is_better,
       .by = {By::tier, By::phase, By::window, By::request},
       .keeps_baseline = true,
       .compute = hit_rate});
  catalogue.add({.name = "offload_hit_share",
                 .unit = "ratio",
                 .definition = "demand accesses served by managed tiers below the fastest one that was asked / demand "
                               "accesses to the fastest",
                 .needs = "block accesses to two managed tiers",
                 .events = events,
                 .direction = Direction::higher_is_better,
                 .by = {By::phase, By::window},
                 .keeps_baseline = true,
                 .compute = offload_hits});
  catalogue.add({.name = "path_prediction_accuracy",
                 .unit = "ratio",
                 .definition = "demand accesses whose block the transition matrix had named as the next / demand "
                               "accesses with a prediction",
                 .needs = "block accesses with a prediction",
                 .events = events,
                 .direction = Direction::higher_is_better,
                 .by = {By::tier, By::phase, By::window},
                 .keeps_baseline = true,
                 .compute = path_prediction});
  catalogue.add({.name = "prefix_cache_hit_rate",
                 .unit = "ratio",
                 .definition = "prompt tokens served from cache / prompt tokens, first computation of each request "
                               "only: recomputation after "
                               "preemption is no hit",
                 .needs = "request events with cached tokens",
                 .events = Events::requests | Events::steps,
                 .direction = Direction::higher_is_better,
                 .by = {By::request, By::window},
                 .windows_of_run = true,
                 .compute = prefix_hit_rate});
}

}  // namespace dmprof
