// What a question changes in each of the three models.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "analyzers/registry/reasons.h"
#include "analyzers/whatif/predictor.h"

namespace dmprof::whatif {
namespace {

constexpr std::uint32_t most_positions = 64;
constexpr double slowed_beside_transfers = 0.25;
constexpr double fewest_passes = 5;  // of a width, to take what it costs from the recording
constexpr std::array cache_knobs = {"cache_policy", "resident", "prefetch_distance"};

std::string value_of(const std::map<std::string, std::string>& values, const std::string& knob) {
  const auto found = values.find(knob);
  return found == values.end() ? "" : found->second;
}

std::optional<std::uint32_t> number(const std::map<std::string, std::string>& values, const std::string& knob) {
  const auto value = whole(value_of(values, knob));
  return value ? std::optional(static_cast<std::uint32_t>(std::min<std::uint64_t>(*value, 1u << 30))) : std::nullopt;
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

void Predictor::Plan::vary(Variant low, Variant high) {
  variants.push_back(std::move(low));
  variants.push_back(std::move(high));
}

// The knob, else the deepest draft that was recorded; 0 when speculation is off.
std::uint32_t Predictor::lookahead_of(const Values& values) const {
  if (value_of(values, "draft") == "none" && value_of(values, "draft_ngram") != "on") return 0;
  const auto knob = number(values, "lookahead");
  return std::min(knob ? *knob : static_cast<std::uint32_t>(acceptance_.positions.size()), most_positions);
}

// The smaller of the engine's limits; without one what the engine had at once while others waited; 0 = no limit known.
std::uint32_t Predictor::limit_of(const Values& values) const {
  std::uint32_t limit = 0;
  for (const char* knob : {"max_concurrent", "batch"}) {
    const std::uint32_t one = number(values, knob).value_or(0);
    if (one > 0) limit = limit == 0 ? one : std::min(limit, one);
  }
  return limit == 0 && value_of(values, "max_concurrent") == value_of(values_, "max_concurrent") ? load_.most_batch
                                                                                                 : limit;
}

bool Predictor::on_real_clock() const {
  if (recording_.steps.empty()) return false;
  const auto track = recording_.tracks.find(recording_.steps.front().track);
  if (track == recording_.tracks.end()) return false;
  const auto clock = recording_.clocks.find(track->second.clock);
  return clock != recording_.clocks.end() && clock->second.kind != ClockKind::virtual_time;
}

const Profile* Predictor::profile_with(const std::string& draft) const {
  const Profile* best = nullptr;
  std::size_t deepest = 0;
  for (const Profile& profile : profiles_) {
    const std::string ran = value_of(recorded_values(*profile.recording), "draft");
    if (ran != draft && file_name(ran) != file_name(draft)) continue;
    const View view(*profile.recording);
    const auto acceptance = specdec::measure_acceptance(view.speculation({}));
    if (acceptance.steps > 0 && acceptance.positions.size() > deepest)
      best = &profile, deepest = acceptance.positions.size();
  }
  return best;
}

void Predictor::plan_speculation(const Asked& asked, Plan& plan) const {
  const std::uint32_t lookahead = lookahead_of(asked.values);
  if (!asked.changed("draft") && !asked.changed("lookahead")) return;
  if (lookahead == 0) {
    plan.mid.serving.acceptance.clear();
    return;
  }
  const std::string draft = value_of(asked.values, "draft");
  const Profile* profile = profile_with(draft);
  const bool other_draft = asked.changed("draft");
  if (other_draft && profile == nullptr) {
    plan.reason = fmt::format(
        "which tokens of draft {} are accepted, and what it costs, is not in this recording; record a run with it and "
        "name that with --profile FILE",
        draft);
    return;
  }
  specdec::Acceptance acceptance = acceptance_;
  if (profile != nullptr) {
    const View view(*profile->recording);
    const auto theirs = specdec::measure_acceptance(view.speculation({}));
    if (other_draft || theirs.positions.size() > acceptance.positions.size()) {
      acceptance = theirs;
      plan.assumptions.push_back(
          fmt::format("acceptance of draft {} as measured in {} ({} steps)", draft, profile->name, theirs.steps));
    }
    const auto profiled = recorded_values(*profile->recording);
    DraftSchedule schedule = before_.schedule;
    schedule.interleave = value_of(profiled, "interleave_sched") == "1";
    const StepCosts costs = measure_costs(view, schedule);
    if (other_draft && costs.draft.empty()) {
      plan.reason = fmt::format("{} holds no step with a draft whose time is known", profile->name);
      return;
    }
    if (other_draft) plan.mid.costs.draft = costs.draft;
    plan.mid.costs.verify.extend_with(costs.verify);
  }
  const Chances chances_of = chances(acceptance, lookahead);
  if (chances_of.mid.empty()) {
    plan.reason = acceptance.steps == 0 ? reasons::no_draft(view_) : "too few steps with a draft to tell acceptance";
    return;
  }
  plan.mid.serving.acceptance = chances_of.mid;
  Plan::Variant low = plan.mid, high = plan.mid;
  low.serving.acceptance = chances_of.low, high.serving.acceptance = chances_of.high;
  // Positions err each for itself: all of them low at once is rarer than one.
  const double together = 1 / std::sqrt(std::max(1.0, static_cast<double>(chances_of.measured)));
  for (std::size_t k = 0; k < chances_of.measured; ++k) {
    low.serving.acceptance[k] = chances_of.mid[k] - together * (chances_of.mid[k] - chances_of.low[k]);
    high.serving.acceptance[k] = chances_of.mid[k] + together * (chances_of.high[k] - chances_of.mid[k]);
  }
  plan.vary(std::move(low), std::move(high));
  if (lookahead > chances_of.measured)
    plan.assumptions.push_back(fmt::format(
        "positions {} to {} were never drafted: their acceptance continues the line through a_1..a_{} ({:.2f} at "
        "position {})",
        chances_of.measured + 1, lookahead, chances_of.measured, chances_of.mid.back(), lookahead));
}

void Predictor::plan_cache(const Asked& asked, Plan& plan) const {
  const bool other_cache =
      std::any_of(cache_knobs.begin(), cache_knobs.end(), [&](const char* knob) { return asked.changed(knob); });
  CacheModel::Tokens tokens{lookahead_of(values_) + 1, lookahead_of(asked.values) + 1};
  const bool other_tokens = tokens.from != tokens.to && tokens.from > 1 && tokens.to > 1 && !asked.changed("draft");
  if (!other_cache && !(other_tokens && !recording_.accesses.empty())) return;
  if (!cache_) cache_.emplace(view_);
  const bool by_replay = other_tokens && cache_->follows_drafts();
  if (!other_cache && !by_replay) return;
  if (!by_replay) tokens.to = tokens.from;
  auto effect = cache_->effect(asked.values, tokens);
  if (!effect) {
    plan.reason = effect.error().message;
    return;
  }
  const Plan as_recorded = plan;
  if (by_replay) {
    // A pass costs what one as full as it was recorded cost, and what the replay says of its blocks.
    const double wider = static_cast<double>(tokens.to) / tokens.from;
    plan.mid.costs.verify = plan.mid.costs.verify.stretched(wider);
    for (Plan::Variant& variant : plan.variants) variant.costs.verify = variant.costs.verify.stretched(wider);
  }
  const auto scale = [&](Plan::Variant& variant, double draft, double verify) {
    if (costs_.draft_time > 0) variant.serving.draft_scale = std::max(0.0, 1 + draft / costs_.draft_time);
    if (costs_.verify_time > 0) variant.serving.verify_scale = std::max(0.0, 1 + verify / costs_.verify_time);
  };
  // What was waited for now runs beside the engine's own work, and on a real machine may take processor time from it:
  // nothing, or all of the allowance, or half.
  const double allowance = on_real_clock() ? slowed_beside_transfers * effect->transfers_left : 0;
  const auto beside = [&](double share, double stage, const WaitChange& change, double wait) {
    return change.mid < 0 ? share * allowance * std::max(0.0, stage - wait) : 0.0;
  };
  const auto apply = [&](Plan::Variant& variant, double WaitChange::*which, double share) {
    scale(variant, effect->draft.*which + beside(share, costs_.draft_time, effect->draft, effect->recorded_draft_wait),
          effect->verify.*which + beside(share, costs_.verify_time, effect->verify, effect->recorded_verify_wait));
  };
  for (Plan::Variant& variant : plan.variants) apply(variant, &WaitChange::mid, 0.5);
  apply(plan.mid, &WaitChange::mid, 0.5);
  Plan::Variant low = plan.mid, high = plan.mid;
  apply(low, &WaitChange::low, 0);
  apply(high, &WaitChange::high, 1);
  if (allowance > 0 && effect->verify.mid + effect->draft.mid < 0)
    plan.assumptions.push_back(fmt::format(
        "work that runs beside transfers instead of waiting for them takes 0 to {:.0f} % longer, {:.0f} % in "
        "the middle",
        100 * allowance, 50 * allowance));
  plan.vary(std::move(low), std::move(high));
  // Passes of the asked width were recorded, where requests end: what they took, waits included, is a measurement, and
  // the replay, whose passes do the work of full ones, one bound of it.
  const double width = tokens.to * std::max(1.0, costs_.draft.widest());
  const double recorded_passes = other_cache || tokens.to > tokens.from ? 0 : costs_.verify.samples_up_to(width);
  if (recorded_passes >= fewest_passes) {
    Plan::Variant replayed = std::move(plan.mid);
    plan.mid = as_recorded.mid;
    plan.variants = as_recorded.variants;
    plan.vary(std::move(replayed), plan.mid);
    plan.assumptions.push_back(
        fmt::format("a pass of at most {:.0f} tokens takes what such passes took ({:.0f} were recorded, where requests "
                    "end); the interval reaches to what the replay of their blocks says",
                    width, recorded_passes));
  }
  for (const std::string& assumption : effect->assumptions) plan.assumptions.push_back(assumption);
  if (asked.changed("draft") || (asked.changed("lookahead") && !by_replay))
    plan.assumptions.push_back("waits for blocks change by the same share as with the drafts that were recorded");
  plan.cache = std::move(*effect);
}

void Predictor::plan_queue(const Asked& asked, Plan& plan) const {
  const bool turns = asked.changed("interleave_sched");
  const bool limits = asked.changed("max_concurrent") || asked.changed("batch");
  if (!turns && !limits) return;
  if (turns) {
    if (before_.schedule.engines == 0) {
      plan.reason = "the recording registers no speculation engines: there is nothing to take turns on";
      return;
    }
    const auto apply = [&](Plan::Variant& variant) {
      variant.serving.schedule.interleave = value_of(asked.values, "interleave_sched") == "1";
    };
    apply(plan.mid);
    for (Plan::Variant& variant : plan.variants) apply(variant);
    plan.assumptions.push_back("engines that take turns change over after each draft token, at no cost");
  }
  if (limits) {
    const std::uint32_t limit = limit_of(asked.values);
    plan.mid.serving.limit = limit;
    for (Plan::Variant& variant : plan.variants) variant.serving.limit = limit;
  }
  plan.assumptions.push_back(load_.users > 0
                                 ? fmt::format("{} users send their next request when one has ended", load_.users)
                                 : std::string("requests arrive when they arrived, whatever the engine's pace"));
}

// Wherever a pass gets wider or narrower than any that was recorded, its cost is an extrapolation.
void Predictor::plan_extrapolation(Plan& plan) const {
  const double each = static_cast<double>(plan.mid.serving.acceptance.size() + 1);
  const auto requests = static_cast<double>(load_.requests.size());
  const std::uint32_t limit = plan.mid.serving.limit;
  const Curve& verify = plan.mid.costs.verify;
  const double fullest = each * std::max(1.0, std::min(limit == 0 ? 1.0 : limit, requests));
  // Without a limit as many run at once as did.
  const double usual = limit == 0 ? each * std::max(1.0, costs_.draft.widest()) : fullest;
  const bool wider = fullest > verify.widest(), narrower = usual < verify.narrowest();
  if (!wider && !narrower) return;
  Plan::Variant flat = plan.mid, steep = plan.mid;
  flat.serving.beyond = 0, steep.serving.beyond = 2;
  plan.vary(std::move(flat), std::move(steep));
  plan.assumptions.push_back(
      wider ? fmt::format(
                  "a pass of more than {:.0f} tokens was never recorded: its cost grows on as measured below, at least "
                  "not at all and at most twice as fast",
                  verify.widest())
            : fmt::format(
                  "a pass of fewer than {:.0f} tokens was never recorded: its cost falls on as measured above, at "
                  "least not at all and at most twice as fast or in proportion",
                  verify.narrowest()));
}

}  // namespace dmprof::whatif
