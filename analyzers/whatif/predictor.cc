#include "analyzers/whatif/predictor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "analyzers/registry/reasons.h"

namespace dmprof::whatif {
namespace {

constexpr std::array modelled = {"lookahead",         "draft", "cache_policy",   "resident",
                                 "prefetch_distance", "batch", "max_concurrent", "interleave_sched"};
constexpr double least_error = 0.02;           // of any ratio: no model here is better than that
constexpr double error_per_e_fold = 0.1;       // more, where it changes by a factor of e
constexpr double least_idle = 0.1;             // of wall time, for an engine that keeps up with its requests
constexpr std::uint64_t step_budget = 40'000;  // simulated steps a variant, shared by its seeds
constexpr const char* hit_rate_metric = "prefetch_hit_rate";

std::uint32_t engines_of(const Recording& recording) {
  for (const auto& [id, capacity] : recording.capacities) {
    if (capacity.kind == "speculation_engine") return capacity.units;
  }
  return 0;
}

// What the recording's own eighths differ by once the model has explained what it can, as the error of a quotient of
// two such runs: the machine drifts between runs as it does within one.
double drift_of(const std::vector<double>& residuals) {
  constexpr std::size_t parts = 8;
  if (residuals.size() < 2 * parts) return 0;
  std::array<double, parts> means{};
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t from = part * residuals.size() / parts, to = (part + 1) * residuals.size() / parts;
    for (std::size_t i = from; i < to; ++i) means[part] += residuals[i] / static_cast<double>(to - from);
  }
  const double middle = std::accumulate(means.begin(), means.end(), 0.0) / parts;
  double squares = 0;
  for (const double each : means) squares += (each - middle) * (each - middle);
  return 1.96 * std::sqrt(2 * squares / (parts - 1) / parts) / middle;
}

std::optional<double> figure_of(const MetricValue& metric, std::string_view percentile) {
  if (!metric.ok()) return std::nullopt;
  if (percentile.empty()) return metric.value;
  if (!metric.spread) return std::nullopt;
  return percentile == "p50" ? metric.spread->p50 : metric.spread->p99;
}

}  // namespace

Predictor::Predictor(const Recording& recording, std::span<const MetricValue> metrics, std::vector<Profile> profiles)
    : recording_(recording),
      view_(recording),
      profiles_(std::move(profiles)),
      values_(recorded_values(recording)),
      acceptance_(specdec::measure_acceptance(view_.speculation({}))) {
  for (const MetricValue& metric : metrics) recorded_.emplace(metric.name, metric);
  before_.schedule.engines = engines_of(recording);
  if (const auto turns = values_.find("interleave_sched"); turns != values_.end())
    before_.schedule.interleave = turns->second == "1";
  costs_ = measure_costs(view_, before_.schedule);
  load_ = measure_load(view_);
  before_.acceptance = chances(acceptance_, lookahead_of(values_)).mid;
  before_.limit = limit_of(values_);
  if (costs_.steps == 0) {
    lacking_ = recording.steps.empty() ? reasons::no_steps(view_, {})
                                       : "no decode step carries a batch, tokens and a verify time";
    return;
  }
  if (load_.requests.empty()) {
    lacking_ = reasons::no_speculation(view_);
    return;
  }
  drift_ = drift_of(costs_.residuals);
  seeds_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(step_budget / costs_.steps, 2, 24));
  baseline_.emplace(load_, costs_, before_, seeds_);
  const Served once = serve(load_, costs_, before_, 1);
  keeps_up_ = once.wall > 0 && once.idle > least_idle * once.wall;
  const auto& modelled_rate = baseline_->of(Quantity::throughput);
  const auto measured = recorded_.find("throughput");
  if (measured != recorded_.end() && measured->second.ok() && *measured->second.value > 0 && !modelled_rate.empty())
    residual_ = std::accumulate(modelled_rate.begin(), modelled_rate.end(), 0.0) /
                    static_cast<double>(modelled_rate.size()) / *measured->second.value -
                1;
}

Prediction Predictor::answer(const Asked& asked) const {
  Prediction prediction;
  prediction.changes = asked.changes;
  prediction.reason = lacking_;
  if (keeps_up_) prediction.objective = "e2e_latency";
  for (const Change& change : asked.changes) {
    if (std::find(modelled.begin(), modelled.end(), change.knob) == modelled.end() && prediction.reason.empty())
      prediction.reason = fmt::format("no model says what {} changes; try it", change.knob);
  }
  Plan plan;
  plan.reason = prediction.reason;
  plan.mid = {before_, costs_};
  if (plan.reason.empty()) plan_speculation(asked, plan);
  if (plan.reason.empty()) plan_cache(asked, plan);
  if (plan.reason.empty()) plan_queue(asked, plan);
  if (lacking_.empty()) prediction.throughput_residual = residual_;
  if (cache_ && cache_->lacking().empty()) prediction.stall_residual = cache_->residual();
  prediction.reason = plan.reason;
  if (plan.reason.empty()) plan_extrapolation(plan);
  prediction.assumptions = plan.assumptions;
  add_figures(asked, plan, prediction);
  return prediction;
}

// What the models leave out is alike on both sides and cancels; the further a setting leads from what was recorded, the
// less of it does.
double Predictor::error_of(const Range& change) const {
  const double far = (error_per_e_fold + std::abs(residual_)) * std::abs(std::log(std::max(change.mid, 1e-3)));
  return std::sqrt(least_error * least_error + drift_ * drift_ + far * far);
}

void Predictor::add_figures(const Asked& asked, const Plan& plan, Prediction& prediction) const {
  std::optional<Outcome> mid;
  std::vector<Outcome> variants;
  double error = least_error;
  if (plan.reason.empty()) {
    mid.emplace(load_, plan.mid.costs, plan.mid.serving, seeds_);
    for (const Plan::Variant& variant : plan.variants)
      variants.emplace_back(load_, variant.costs, variant.serving, seeds_);
    if (const auto change = scaled(Quantity::throughput, 1, *baseline_, *mid, {}, 0)) error = error_of(*change);
  }
  for (const QuantityInfo& info : quantities()) {
    Figure figure{info.name, "", {}, {}, plan.reason};
    const auto recorded = recorded_.find(info.metric);
    if (recorded != recorded_.end()) {
      figure.unit = recorded->second.unit;
      figure.recorded = figure_of(recorded->second, info.percentile);
    }
    if (!figure.recorded && figure.reason.empty())
      figure.reason = recorded == recorded_.end() ? fmt::format("{} was not evaluated", info.metric)
                                                  : fmt::format("{}: {}", info.metric, recorded->second.reason);
    if (figure.reason.empty()) {
      figure.predicted = scaled(info.quantity, *figure.recorded, *baseline_, *mid, variants, error);
      if (!figure.predicted) figure.reason = "the serving model gives no such figure for this load";
    }
    prediction.figures.push_back(std::move(figure));
  }
  prediction.figures.push_back(hit_rate(asked, plan));
}

Figure Predictor::hit_rate(const Asked& asked, const Plan& plan) const {
  Figure figure{hit_rate_metric, "ratio", {}, {}, plan.reason};
  const auto recorded = recorded_.find(hit_rate_metric);
  if (recorded != recorded_.end()) figure.recorded = figure_of(recorded->second, "");
  if (!figure.recorded) {
    figure.reason = recorded == recorded_.end() ? "not evaluated" : recorded->second.reason;
  } else if (figure.reason.empty() && (asked.changed("draft") || (asked.changed("lookahead") && !plan.cache))) {
    figure.reason = "which blocks other drafts ask for is not in this recording";
  } else if (figure.reason.empty()) {
    const double error = plan.cache ? plan.cache->hit_rate_error : least_error;
    const double rate = plan.cache ? plan.cache->hit_rate(*figure.recorded) : *figure.recorded;
    figure.predicted = Range{std::max(0.0, rate - error), rate, std::min(1.0, rate + error)};
  }
  return figure;
}

}  // namespace dmprof::whatif
