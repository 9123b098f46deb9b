// How good prefetching is: accuracy, coverage, lateness, pollution.
#include <optional>
#include <unordered_set>

#include "analyzers/cache/cache.h"
#include "analyzers/registry/reasons.h"
#include "analyzers/registry/statistics.h"
#include "analyzers/registry/tiers.h"

namespace dmprof {
namespace {

enum class Use { none, timely, late, missed };  // how a prefetch bears on an access

Use use_of(const BlockAccess& access) {
  if (access.outcome == AccessOutcome::late) return Use::late;
  if (access.outcome == AccessOutcome::miss) return Use::missed;
  return access.origin == BlockOrigin::prefetched ? Use::timely : Use::none;
}

struct Uses {
  std::optional<cache::TierScope> tier;
  double timely = 0, late = 0, missed = 0;
  double useful() const { return timely + late; }
};

Uses count_uses(const View& view, const Scope& scope) {
  Uses uses;
  uses.tier = cache::tier_scope(view, scope);
  if (!uses.tier) return uses;
  view.each_access(uses.tier->scope, [&](const BlockAccess& access) {
    const Use use = use_of(access);
    uses.timely += use == Use::timely, uses.late += use == Use::late, uses.missed += use == Use::missed;
  });
  return uses;
}

std::string no_prefetch(const View& view) {
  if (view.recording().accesses.empty() || !view.recording().prefetches.empty()) return reasons::no_accesses(view);
  return "the recording holds no prefetches: the engine does none, or it was off";
}

bool never_prefetched(const View& view, const Uses& uses) {
  return !uses.tier || (view.recording().prefetches.empty() && uses.useful() == 0);
}

// Uses and evictions are chosen the same way, by the step they happened in.
MetricValue accuracy(const View& view, const Scope& scope) {
  const Uses uses = count_uses(view, scope);
  if (never_prefetched(view, uses)) return unavailable(no_prefetch(view));
  RatioEstimate estimate;
  double cancelled = 0;
  view.each_access(uses.tier->scope, [&](const BlockAccess& access) {
    if (const Use use = use_of(access); use == Use::timely || use == Use::late) estimate.add(1, 1);
  });
  for (const Prefetch& prefetch : view.recording().prefetches) {
    if (!view.belongs(prefetch, uses.tier->scope)) continue;
    if (prefetch.point == PrefetchPoint::evicted_unused) estimate.add(0, 1);
    if (prefetch.point == PrefetchPoint::cancelled) ++cancelled;
  }
  if (estimate.denominator() <= 0) return unavailable("no prefetch was used or evicted unused here");
  MetricValue value = ratio_value(estimate);
  value.subject = uses.tier->tier;
  value.beside = {{"evicted unused", "blocks", estimate.denominator() - estimate.numerator()},
                  {"cancelled", "blocks", cancelled}};
  return value;
}

MetricValue coverage(const View& view, const Scope& scope) {
  const Uses uses = count_uses(view, scope);
  if (never_prefetched(view, uses)) return unavailable(no_prefetch(view));
  RatioEstimate estimate;
  view.each_access(uses.tier->scope, [&](const BlockAccess& access) {
    if (const Use use = use_of(access); use != Use::none) estimate.add(use == Use::missed ? 0 : 1, 1);
  });
  if (estimate.denominator() <= 0)
    return unavailable("every access found its block by plain residency: there was no miss to remove");
  MetricValue value = ratio_value(estimate);
  value.subject = uses.tier->tier;
  return value;
}

MetricValue lateness(const View& view, const Scope& scope) {
  const Uses uses = count_uses(view, scope);
  if (never_prefetched(view, uses)) return unavailable(no_prefetch(view));
  if (uses.useful() == 0) return unavailable("no prefetch was useful here");
  RatioEstimate estimate;
  view.each_access(uses.tier->scope, [&](const BlockAccess& access) {
    if (const Use use = use_of(access); use == Use::timely || use == Use::late)
      estimate.add(use == Use::late ? 1 : 0, 1);
  });
  MetricValue value = ratio_value(estimate);
  value.subject = uses.tier->tier;
  value.beside = {{"timeliness", "ratio", 1 - estimate.ratio()}};
  return value;
}

// Replays, in time order, which blocks were last thrown out by a prefetch and not brought back since. Whatever happened
// decides that, in the scope or not (a warm-up's eviction makes a later miss); only misses of the scope are counted.
MetricValue pollution(const View& view, const Scope& scope) {
  const std::optional<cache::TierScope> tier = cache::tier_scope(view, scope);
  if (view.recording().prefetches.empty() || !tier) return unavailable(no_prefetch(view));
  std::unordered_set<std::uint64_t> thrown_out;
  RatioEstimate estimate;
  auto prefetch = view.recording().prefetches.begin();
  const auto end = view.recording().prefetches.end();
  for (const BlockAccess& access : view.recording().accesses) {
    if (access.tier != tier->id) continue;
    for (; prefetch != end && prefetch->time <= access.time; ++prefetch) {
      if (prefetch->tier != tier->id) continue;
      const bool comes_back = prefetch->point == PrefetchPoint::issued || prefetch->point == PrefetchPoint::completed;
      if (comes_back) thrown_out.erase(prefetch->block);
      if (prefetch->victim != 0) thrown_out.insert(prefetch->victim - 1);
    }
    const bool was_thrown_out = thrown_out.erase(access.block) > 0;
    if (access.outcome == AccessOutcome::miss && view.belongs(access, tier->scope))
      estimate.add(was_thrown_out ? 1 : 0, 1);
  }
  if (estimate.denominator() <= 0) return unavailable("there was no demand miss here");
  MetricValue value = ratio_value(estimate);
  value.subject = tier->tier;
  value.beside = {{"misses on a block that a prefetch threw out", "misses", estimate.numerator()}};
  return value;
}

}  // namespace

void register_prefetch(Catalogue& catalogue) {
  const Events events = Events::accesses | Events::prefetches | Events::steps | Events::speculation;
  const std::string needs = "block accesses and prefetches";
  const std::vector<By> by = {By::tier, By::phase, By::window};
  catalogue.add(
      {.name = "prefetch_accuracy",
       .unit = "ratio",
       .definition =
           "prefetched blocks used before eviction / prefetched blocks whose fate is known (used or evicted unused); "
           "cancelled ones are counted apart",
       .needs = needs,
       .events = events,
       .direction = Direction::higher_is_better,
       .by = by,
       .keeps_baseline = true,
       .compute = accuracy});
  catalogue.add({.name = "prefetch_coverage",
                 .unit = "ratio",
                 .definition = "accesses that a prefetch served, in time or late / (those + remaining demand misses)",
                 .needs = needs,
                 .events = events,
                 .direction = Direction::higher_is_better,
                 .by = by,
                 .keeps_baseline = true,
                 .compute = coverage});
  catalogue.add(
      {.name = "prefetch_lateness",
       .unit = "ratio",
       .definition = "useful prefetches still in flight when demanded / useful prefetches; timeliness = 1 - lateness",
       .needs = needs,
       .events = events,
       .direction = Direction::lower_is_better,
       .by = by,
       .keeps_baseline = true,
       .compute = lateness});
  catalogue.add({.name = "prefetch_pollution",
                 .unit = "ratio",
                 .definition = "demand misses to blocks that a prefetch had evicted / demand misses",
                 .needs = "block accesses and prefetches with their victims",
                 .events = events,
                 .direction = Direction::lower_is_better,
                 .by = by,
                 .keeps_baseline = true,
                 .compute = pollution});
}

}  // namespace dmprof
