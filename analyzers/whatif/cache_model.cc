#include "analyzers/whatif/cache_model.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analyzers/registry/reasons.h"
#include "analyzers/whatif/settings.h"

namespace dmprof::whatif {
namespace {

constexpr double tells_a_chain = 0.9;           // agreement from which an engine is taken to predict block after block
constexpr double least_error = 0.1;             // of waits
constexpr double worst_residual = 0.5;          // of the waits; beyond it the replay is of another machine
constexpr std::size_t most_accesses = 500'000;  // that are replayed: each takes about a microsecond, several times

std::optional<std::uint64_t> number(const std::map<std::string, std::string>& values, const std::string& knob) {
  const auto found = values.find(knob);
  return found == values.end() ? std::nullopt : whole(found->second);
}

double waits(const Replayed& replayed) { return replayed.draft_wait + replayed.verify_wait; }

// The recorded wait, scaled as the replay's is. The replay's own residual is its uncertainty: a share of what is left
// or of what went away, whichever is more.
WaitChange change(double measured, double before, double after, double error) {
  if (before <= 0 || measured <= 0) return {0, after, after * (1 + error)};
  const double factor = after / before;
  const double width = error * std::max(std::min(factor, 1.0), std::abs(1 - factor));
  return {measured * (std::max(0.0, factor - width) - 1), measured * (factor - 1), measured * (factor + width - 1)};
}

// What looking ahead took the consumer, mean of a plan, ns; 0 when the engine does not say.
double plan_time(const View& view) {
  double time = 0, plans = 0;
  const std::vector<Step> steps = view.steps({});
  if (steps.empty()) return 0;
  for (const Slice& slice : view.recording().slices) {
    if (slice.track != steps.front().track || view.recording().name(slice.name) != "path_prediction") continue;
    time += static_cast<double>(slice.duration), ++plans;
  }
  return plans > 0 ? time / plans : 0;
}

// Of the counted verification groups, ns.
double work_of(const AccessTrace& trace) {
  double work = 0;
  for (const TraceGroup& group : trace.groups) {
    if (!group.counted || group.draft) continue;
    for (const TraceBlock& block : group.blocks) work += block.work_after;
  }
  return work;
}

}  // namespace

double CacheEffect::hit_rate(double recorded) const {
  if (rate_after >= rate_before)
    return rate_before < 1 ? 1 - (1 - recorded) * (1 - rate_after) / (1 - rate_before) : recorded;
  return recorded * rate_after / rate_before;
}

Prefetcher CacheModel::observed_prefetcher(const View& view) const {
  Prefetcher prefetcher;
  const Recording& recording = view.recording();
  std::uint64_t useful = 0, unused = 0;
  for (const Prefetch& prefetch : recording.prefetches) {
    if (prefetch.tier == trace_->tier) unused += prefetch.point == PrefetchPoint::evicted_unused;
  }
  for (const BlockAccess& access : recording.accesses) {
    if (access.tier == trace_->tier) useful += access.origin == BlockOrigin::prefetched;
  }
  prefetcher.outstanding = std::max(1u, link_->outstanding);
  const double first = chain_agreement(view, trace_->tier, 1), second = chain_agreement(view, trace_->tier, 2);
  if (std::max(first, second) >= tells_a_chain) {
    prefetcher.kind = Prefetcher::Kind::chain;
    prefetcher.order = second > first ? 2 : 1;
    return prefetcher;
  }
  const bool any = std::any_of(recording.prefetches.begin(), recording.prefetches.end(),
                               [](const Prefetch& prefetch) { return prefetch.point == PrefetchPoint::issued; });
  if (any) prefetcher.kind = Prefetcher::Kind::announced;
  if (useful > 0) prefetcher.useless = std::min(1.0, static_cast<double>(unused) / static_cast<double>(useful));
  return prefetcher;
}

CacheModel::CacheModel(const View& view) {
  trace_ = access_trace(view, most_accesses);
  if (!trace_) {
    lacking_ = reasons::no_accesses(view);
    return;
  }
  if (trace_->covered <= 0) {
    lacking_ = "the blocks asked for before the first decode step are too many to replay; record a shorter run";
    return;
  }
  link_ = measure_link(view, trace_->tier);
  if (!link_) {
    lacking_ = reasons::no_transfers();
    return;
  }
  if (trace_->budget == 0) {
    lacking_ = fmt::format("the size of {} is not registered", view.recording().tier_name(trace_->tier));
    return;
  }
  prefetcher_ = observed_prefetcher(view);
  plan_time_ = plan_time(view);
  calibrate(recorded_values(view.recording()));
}

void CacheModel::calibrate(const std::map<std::string, std::string>& values) {
  if (const auto distance = number(values, "prefetch_distance"))
    recorded_distance_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(*distance, 1 << 16));
  if (recorded_distance_ > 0) plan_cost_ = plan_time_ / recorded_distance_;
  const auto set = setup(values);
  if (!set) {
    lacking_ = set.error().message;
    return;
  }
  recorded_ = replay(*trace_, *link_, *set);
  const double measured = trace_->draft_wait + trace_->verify_wait;
  if (prefetcher_.kind == Prefetcher::Kind::announced) {
    // Which of the two an engine does shows in how long it waits.
    CacheSetup other = *set;
    other.prefetcher.forgets_resident = true;
    const Replayed forgetful = replay(*trace_, *link_, other);
    if (std::abs(waits(forgetful) - measured) < std::abs(waits(recorded_) - measured)) {
      prefetcher_.forgets_resident = true;
      recorded_ = forgetful;
    }
  }
  if (measured <= 0) return;  // nothing stands still: nothing to reproduce either
  residual_ = waits(recorded_) / measured - 1;
  if (std::abs(residual_) > worst_residual)
    lacking_ = fmt::format(
        "the replay does not reproduce this recording: it waits for blocks {:.2f} x as long as the engine did",
        residual_ + 1);
}

Result<CacheSetup> CacheModel::setup(const std::map<std::string, std::string>& values) const {
  CacheSetup set;
  const auto policy = number(values, "cache_policy");
  const auto kind = policy ? cachemodel::policy_from(*policy) : std::nullopt;
  if (!kind)
    return fail(ErrorKind::cannot_answer, "the engine registers no knob cache_policy with a value of 0, 1 or 2");
  set.policy = *kind;
  set.budget = number(values, "resident").value_or(trace_->budget);
  set.prefetcher = prefetcher_;
  if (set.prefetcher.kind == Prefetcher::Kind::chain) {
    set.prefetcher.distance = recorded_distance_;
    if (const auto distance = number(values, "prefetch_distance"))
      set.prefetcher.distance = static_cast<std::uint32_t>(std::min<std::uint64_t>(*distance, 1 << 16));
    set.prefetcher.plan_cost =
        plan_cost_ * (static_cast<double>(set.prefetcher.distance) - static_cast<double>(recorded_distance_));
    if (set.prefetcher.distance == 0) set.prefetcher.kind = Prefetcher::Kind::none;
  }
  return set;
}

Result<CacheEffect> CacheModel::effect(const std::map<std::string, std::string>& values, Tokens tokens) const {
  if (!lacking_.empty()) return fail(ErrorKind::cannot_answer, lacking_);
  auto set = setup(values);
  if (!set) return tl::unexpected(set.error());
  CacheEffect effect;
  const bool other_tokens = tokens.from != tokens.to;
  AccessTrace wider;
  if (other_tokens) wider = with_tokens(*trace_, tokens.from, tokens.to);
  const AccessTrace& asked = other_tokens ? wider : *trace_;
  std::vector<Replayed> variants;
  const bool further = set->prefetcher.kind == Prefetcher::Kind::chain && set->prefetcher.distance > recorded_distance_;
  if (further) {
    // How many prefetches the engine lets run at once cannot be seen while it looked less far: a few, or as many as it
    // looks ahead.
    const std::uint32_t seen = set->prefetcher.outstanding, most = std::max(seen, set->prefetcher.distance);
    for (const std::uint32_t outstanding :
         {std::min(most, std::max(seen, 2u)), std::min(most, std::max(seen, 4u)), most}) {
      set->prefetcher.outstanding = outstanding;
      variants.push_back(replay(asked, *link_, *set));
    }
    effect.assumptions.push_back(
        fmt::format("looking {} accesses ahead, the engine lets {} to {} prefetches run at once (at most {} were seen)",
                    set->prefetcher.distance, std::min(most, std::max(seen, 2u)), most, seen));
  } else {
    variants.assign(3, replay(asked, *link_, *set));
  }
  const double error = least_error + std::abs(residual_) + (other_tokens ? least_error : 0);
  const auto waits_of = [&](double Replayed::*wait, double measured) {
    WaitChange total = change(measured, recorded_.*wait, variants[1].*wait, error);
    for (const Replayed& variant : variants) {
      const WaitChange one = change(measured, recorded_.*wait, variant.*wait, error);
      total.low = std::min(total.low, one.low), total.high = std::max(total.high, one.high);
    }
    return total;
  };
  effect.draft = waits_of(&Replayed::draft_wait, trace_->draft_wait);
  effect.verify = waits_of(&Replayed::verify_wait, trace_->verify_wait);
  // Blocks that now come from elsewhere are worked on at another pace.
  const double work = variants[1].work_change - recorded_.work_change + work_of(asked) - work_of(*trace_);
  effect.verify.low += work, effect.verify.mid += work, effect.verify.high += work;
  // Where only the beginning was replayed, the rest is taken to go on like it.
  for (WaitChange* each : {&effect.draft, &effect.verify}) {
    for (double* value : {&each->low, &each->mid, &each->high}) *value /= trace_->covered;
  }
  effect.recorded_draft_wait = trace_->draft_wait / trace_->covered;
  effect.recorded_verify_wait = trace_->verify_wait / trace_->covered;
  const auto moved = [](const Replayed& one) { return static_cast<double>(one.misses + one.prefetches); };
  if (moved(recorded_) > 0) effect.transfers_left = std::min(1.0, moved(variants[1]) / moved(recorded_));
  effect.rate_before = recorded_.hit_rate(), effect.rate_after = variants[1].hit_rate();
  const double recorded_rate =
      trace_->accesses == 0 ? 0 : static_cast<double>(trace_->hits) / static_cast<double>(trace_->accesses);
  effect.hit_rate_error = std::abs(recorded_.hit_rate() - recorded_rate) + 0.03;
  for (const Replayed& variant : variants)
    effect.hit_rate_error =
        std::max(effect.hit_rate_error, std::abs(variant.hit_rate() - variants[1].hit_rate()) + 0.03);
  if (other_tokens)
    effect.assumptions.push_back(
        fmt::format("tokens choose their blocks independently, {:.0f} % of those at their place each; the arithmetic "
                    "of more tokens "
                    "hides behind their blocks",
                    100 * trace_->asked_by_token));
  effect.assumptions.push_back(fmt::format(
      "{} ({} accesses); transfers take what they took ({})",
      other_tokens ? "the steps stay those recorded" : "the blocks asked for stay those recorded", trace_->accesses,
      link_->serial ? fmt::format("one at a time, {:.3g} us of latency, {:.3g} GB/s", link_->latency / 1e3,
                                  1 / link_->ns_per_byte)
                    : fmt::format("up to {} demanded and {} prefetched at once, each as long as a recorded one",
                                  link_->demand_slots, link_->prefetch_slots)));
  return effect;
}

}  // namespace dmprof::whatif
