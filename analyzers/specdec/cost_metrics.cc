// Metrics that weigh what speculation gains against what it costs.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "analyzers/registry/reasons.h"
#include "analyzers/registry/statistics.h"
#include "analyzers/specdec/acceptance.h"
#include "analyzers/specdec/cost.h"
#include "analyzers/specdec/model.h"
#include "analyzers/specdec/specdec.h"
#include "dmprof/base/counted.h"

namespace dmprof {
namespace {

using specdec::Costs;
using specdec::StepSample;

using specdec::fewest_one_token_steps;
constexpr std::size_t most_resampled = 4096;
constexpr std::uint32_t deepest_extrapolation = 16;

struct Measured {
  std::vector<StepSample> samples;
  Costs costs;
  std::string lacking;  // why c and v cannot be told, "" when they can
};

Measured measure(const View& view, const Scope& scope) {
  Measured measured;
  measured.samples = specdec::step_samples(view, scope);
  measured.costs = specdec::measure_costs(measured.samples);
  if (measured.samples.empty()) {
    measured.lacking = view.recording().steps.empty() ? reasons::no_steps(view, scope)
                                                      : "no decode step carries a batch, tokens and a verify time";
  } else if (std::none_of(measured.samples.begin(), measured.samples.end(),
                          [](const StepSample& s) { return s.positions > 0; })) {
    measured.lacking = reasons::no_draft(view);
  } else if (measured.costs.one_token_steps < fewest_one_token_steps) {
    measured.lacking = fmt::format(
        "{} of one token at a batch that also speculates, {} are needed; record baseline windows "
        "(dm-engine: --baseline-every N)",
        counted(measured.costs.one_token_steps, "target step"), fewest_one_token_steps);
  }
  return measured;
}

template <class Pick>
std::optional<ConfidenceInterval> interval(const std::vector<StepSample>& all, Pick&& pick) {
  std::vector<StepSample> samples = all;
  if (samples.size() > most_resampled) {  // every n-th step: fewer samples, so the interval errs on the wide side
    const std::size_t stride = samples.size() / most_resampled + 1;
    samples.clear();
    for (std::size_t i = 0; i < all.size(); i += stride) samples.push_back(all[i]);
  }
  return bootstrap(samples.size(),
                   [&](std::span<const std::size_t> drawn) { return pick(specdec::measure_costs(samples, drawn)); });
}

std::string unit_source(const Costs& costs) {
  return costs.natural_baseline ? "one-token steps are the engine's own steps without a draft"
                                : "one-token steps are baseline windows";
}

MetricValue draft_cost(const View& view, const Scope& scope) {
  const Measured measured = measure(view, scope);
  if (!measured.lacking.empty()) return unavailable(measured.lacking);
  MetricValue value = scalar(*measured.costs.draft, measured.costs.drafting_steps);
  value.reason = unit_source(measured.costs);
  value.interval = interval(measured.samples, [](const Costs& costs) { return costs.draft; });
  value.beside = {{"one-token target steps", "steps", static_cast<double>(measured.costs.one_token_steps)}};
  return value;
}

std::optional<double> usual_verify(const Costs& costs, std::uint32_t width) {
  const auto found = costs.verify.find(width);
  return found == costs.verify.end() ? std::nullopt : std::optional(found->second);
}

MetricValue verify_cost(const View& view, const Scope& scope) {
  const Measured measured = measure(view, scope);
  if (!measured.lacking.empty()) return unavailable(measured.lacking);
  const std::uint32_t width = measured.costs.usual_width;
  const std::optional<double> usual = usual_verify(measured.costs, width);
  if (!usual) return unavailable(fmt::format("no one-token steps at the batch at which {} tokens are verified", width));
  MetricValue value = scalar(*usual, measured.costs.drafting_steps);
  value.reason = unit_source(measured.costs);
  value.subject = fmt::format("v({})", width);
  value.interval = interval(measured.samples, [width](const Costs& costs) { return usual_verify(costs, width); });
  for (const auto& [n, v] : measured.costs.verify) value.beside.push_back({fmt::format("v({})", n), "x", v});
  return value;
}

// The prediction of FORMULAS.md from a_k, c and v at the usual lookahead.
std::optional<double> predicted_speedup(const Costs& costs, const specdec::Acceptance& acceptance) {
  if (!costs.draft || costs.usual_width < 2 || acceptance.steps == 0 || costs.verify.empty()) return std::nullopt;
  const double length = 1 + static_cast<double>(acceptance.accepted) / static_cast<double>(acceptance.steps);
  const std::uint32_t n = costs.usual_width - 1;
  return specdec::speedup(length, specdec::VerifyCurve(costs.verify).at(n + 1), n, *costs.draft);
}

MetricValue speedup(const View& view, const Scope& scope) {
  const Measured measured = measure(view, scope);
  const specdec::Acceptance acceptance = specdec::measure_acceptance(view.speculation(scope));
  const std::optional<double> predicted =
      measured.lacking.empty() ? predicted_speedup(measured.costs, acceptance) : std::nullopt;
  if (!measured.lacking.empty() || (!measured.costs.speedup && !predicted)) {
    return unavailable(measured.lacking.empty() ? "no step without speculation emitted a token" : measured.lacking);
  }
  const bool is_measured = measured.costs.speedup.has_value();
  MetricValue value = scalar(is_measured ? *measured.costs.speedup : *predicted, measured.samples.size());
  value.reason = is_measured ? fmt::format("measured within this recording; {}", unit_source(measured.costs))
                             : "predicted from acceptance, draft cost and verify cost";
  if (is_measured) value.interval = interval(measured.samples, [](const Costs& costs) { return costs.speedup; });
  if (predicted) value.beside.push_back({"predicted", "x", *predicted});
  return value;
}

MetricValue breakeven(const View& view, const Scope& scope) {
  const Measured measured = measure(view, scope);
  if (!measured.lacking.empty()) return unavailable(measured.lacking);
  const Costs& costs = measured.costs;
  if (costs.usual_width < 2 || costs.verify.empty())
    return unavailable("no step verified more than one token at a batch with one-token steps");
  const std::uint32_t n = costs.usual_width - 1;
  const double cost = specdec::VerifyCurve(costs.verify).at(n + 1) + n * *costs.draft;
  const std::optional<double> acceptance = specdec::breakeven_acceptance(n, cost);
  if (!acceptance) {
    return unavailable(fmt::format(
        "none exists: a step costs {:.2f} one-token steps and emits at most {} tokens even if every draft is accepted",
        cost, n + 1));
  }
  MetricValue value = scalar(*acceptance, measured.costs.drafting_steps);
  value.subject = fmt::format("N = {}", n);
  value.beside = {{"step cost", "x", cost}};
  return value;
}

MetricValue optimal(const View& view, const Scope& scope) {
  const Measured measured = measure(view, scope);
  if (!measured.lacking.empty()) return unavailable(measured.lacking);
  if (measured.costs.verify.empty())
    return unavailable("no step verified more than one token at a batch with one-token steps");
  const specdec::Acceptance acceptance = specdec::measure_acceptance(view.speculation(scope));
  std::vector<double> a = acceptance.conditional();
  if (a.empty()) return unavailable("every step with a draft was cut short");
  const specdec::VerifyCurve curve(measured.costs.verify);
  const specdec::Lookahead within = specdec::best_lookahead(a, curve, *measured.costs.draft);
  MetricValue value = scalar(within.best, acceptance.steps);
  value.subject = fmt::format("of N = 0..{}", a.size());
  for (std::size_t n = 0; n < within.speedup.size(); ++n) {
    value.beside.push_back({fmt::format("predicted speed-up at N = {}", n), "x", within.speedup[n]});
  }
  value.reason = measured.costs.verify.size() < a.size() ? "v(n) between the measured widths is interpolated" : "";
  if (within.best == a.size() && a.size() < deepest_extrapolation) {
    const double last = a.back();
    const std::size_t recorded = a.size();
    a.resize(deepest_extrapolation, last);
    const specdec::Lookahead beyond = specdec::best_lookahead(a, curve, *measured.costs.draft);
    value.reason = fmt::format(
        "the deepest recorded; if acceptance stayed at {:.2f} beyond position {} and v(n) grew on linearly, N = {} "
        "would be best",
        last, recorded, beyond.best);
    value.beside.push_back({"best N if extrapolated", "tokens", static_cast<double>(beyond.best)});
  }
  return value;
}

// Whether one more position would pay: FORMULAS, marginal lookahead, with verification's own cost.
MetricValue marginal(const View& view, const Scope& scope) {
  const Measured measured = measure(view, scope);
  if (!measured.lacking.empty()) return unavailable(measured.lacking);
  if (measured.costs.verify.empty())
    return unavailable("no step verified more than one token at a batch with one-token steps");
  const specdec::Acceptance acceptance = specdec::measure_acceptance(view.speculation(scope));
  std::vector<double> a = acceptance.conditional();
  if (a.empty()) return unavailable("every step with a draft was cut short");
  const specdec::VerifyCurve curve(measured.costs.verify);
  const auto deepest = static_cast<std::uint32_t>(a.size());
  const auto speedup = [&](std::uint32_t n) {
    return specdec::speedup(specdec::expected_tokens(a), curve.at(n + 1), n, *measured.costs.draft);
  };
  const double now = speedup(deepest);
  a.push_back(a.back());
  MetricValue value = scalar(speedup(deepest + 1) / now, acceptance.positions[deepest - 1].reached);
  value.subject = fmt::format("N = {} to {}", deepest, deepest + 1);
  value.reason = fmt::format("if position {} were accepted as position {} is, {:.2f}, and v(n) grew on linearly",
                             deepest + 1, deepest, a.back());
  value.beside = {{fmt::format("a_{}", deepest), "ratio", a.back()}, {"c", "x", *measured.costs.draft}};
  return value;
}

// What speculation costs a step that has nothing to verify.
MetricValue undrafted(const View& view, const Scope& scope) {
  struct Batch {
    RatioEstimate own, off;
  };
  std::map<std::uint32_t, Batch> batches;
  for (const StepSample& sample : specdec::step_samples(view, scope)) {
    if (sample.positions > 0 || sample.width > 1) continue;
    (sample.baseline ? batches[sample.batch].off : batches[sample.batch].own).add(sample.duration, 1);
  }
  double cost = 0, weight = 0;
  for (const auto& [size, batch] : batches) {
    if (batch.own.samples() < fewest_one_token_steps || batch.off.samples() < fewest_one_token_steps ||
        batch.off.ratio() <= 0)
      continue;
    const double steps = batch.own.denominator();
    cost += steps * batch.own.ratio() / batch.off.ratio(), weight += steps;
  }
  if (weight <= 0)
    return unavailable(fmt::format(
        "needs {} steps that carry no draft though speculation is on, and as many baseline steps at the same batch",
        fewest_one_token_steps));
  return scalar(cost / weight, static_cast<std::uint64_t>(weight));
}

// Of a step's time what a request is to answer for: drafting by its drafted tokens, verification by its tokens in the
// target's pass, the rest in equal shares. The requests of a step together answer for all of it.
MetricValue wasted(const View& view, const Scope& scope) {
  RatioEstimate estimate;
  for (const Step& step : view.steps(scope)) {
    const std::vector<SpeculationStep> rows = view.rows_of_step(step.step);
    double drafted = 0;
    for (const SpeculationStep& row : rows) drafted += row.drafted;
    const auto draft_time = static_cast<double>(step.draft_time), verify_time = static_cast<double>(step.verify_time),
               duration = static_cast<double>(step.duration);
    double waste = 0, own = 0;
    for (const SpeculationStep& row : rows) {
      if (scope.request && row.request != *scope.request) continue;
      const double even = 1 / static_cast<double>(rows.size()), accepted = row.accepted;
      if (drafted > 0) waste += draft_time * (row.drafted - accepted) / drafted;
      own += draft_time * (drafted > 0 ? row.drafted / drafted : even);
      if (step.target_tokens > 0) waste += verify_time * (row.verified - accepted) / step.target_tokens;
      own += verify_time * (step.target_tokens > 0 ? (row.verified + 1.0) / step.target_tokens : even);
      own += (duration - draft_time - verify_time) * even;
    }
    const double time = scope.request ? own : duration;
    if (time > 0) estimate.add(waste, time);
  }
  if (estimate.denominator() <= 0) return unavailable(reasons::no_steps(view, scope));
  if (view.recording().speculation.empty()) return unavailable(reasons::no_speculation(view));
  return ratio_value(estimate);
}

}  // namespace

void register_speculation_costs(Catalogue& catalogue) {
  const Events events = Events::speculation | Events::steps;
  const std::string both = "drafting steps and target steps of one token at the same batch (baseline windows)";
  const std::vector<By> by = {By::window};
  catalogue.add(
      {.name = "draft_cost_ratio",
       .unit = "x",
       .definition =
           "c: draft time per draft position / verify time of a target step of one token, at the same batch, waits for "
           "blocks included in both",
       .needs = both,
       .events = events,
       .direction = Direction::lower_is_better,
       .by = by,
       .keeps_baseline = true,
       .compute = draft_cost});
  catalogue.add({.name = "verify_cost_ratio",
                 .unit = "x",
                 .definition = "v(N+1): verify time of a target step of N+1 tokens per sequence / of one token, at the "
                               "same batch; the most "
                               "common N of the recording",
                 .needs = both,
                 .events = events,
                 .direction = Direction::lower_is_better,
                 .by = by,
                 .keeps_baseline = true,
                 .compute = verify_cost});
  catalogue.add({.name = "speculation_speedup",
                 .unit = "x",
                 .definition = "tokens per step time as the engine ran / tokens per step time of steps without "
                               "speculation, at the same batch, "
                               "within this recording",
                 .needs = both,
                 .events = events,
                 .direction = Direction::higher_is_better,
                 .by = by,
                 .keeps_baseline = true,
                 .compute = speedup});
  catalogue.add({.name = "breakeven_acceptance",
                 .unit = "ratio",
                 .definition = "acceptance, the same at every position, at which 1 + a + .. + a^N = v(N+1) + N c: "
                               "below it speculation loses",
                 .needs = both,
                 .events = events,
                 .direction = Direction::lower_is_better,
                 .keeps_baseline = true,
                 .compute = breakeven});
  catalogue.add({.name = "optimal_lookahead",
                 .unit = "tokens",
                 .definition = "N with the greatest predicted speed-up E_N / (v(N+1) + N c), E_N from the measured "
                               "a_k; limited to recorded "
                               "positions, 0 = speculation does not pay",
                 .needs = both,
                 .events = events,
                 .keeps_baseline = true,
                 .compute = optimal});
  catalogue.add({.name = "marginal_lookahead",
                 .unit = "x",
                 .definition = "predicted tokens/s with one draft position more than the deepest recorded / with that "
                               "one: above 1 a longer lookahead pays",
                 .needs = both,
                 .events = events,
                 .keeps_baseline = true,
                 .compute = marginal});
  catalogue.add({.name = "undrafted_step_cost",
                 .unit = "x",
                 .definition =
                     "step time of steps that carry no draft though speculation is on / of baseline steps, at "
                     "the same batch: what speculation costs whatever is drafted",
                 .needs = "steps without a draft and baseline windows",
                 .events = events,
                 .direction = Direction::lower_is_better,
                 .keeps_baseline = true,
                 .compute = undrafted});
  catalogue.add({.name = "wasted_draft_share",
                 .unit = "ratio",
                 .definition = "time spent drafting and verifying tokens that were not accepted / step time; draft "
                               "time is shared out evenly over "
                               "drafted tokens, verify time evenly over the tokens of the pass; of a request: its "
                               "own waste / its share of step time, what is neither in equal shares",
                 .needs = "steps and speculation steps",
                 .events = events,
                 .direction = Direction::lower_is_better,
                 .by = {By::window, By::request},
                 .compute = wasted});
}

}  // namespace dmprof
