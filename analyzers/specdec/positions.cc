// Which draft positions are worth their cost, and which settings of the lookahead this recording tried.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analyzers/registry/reasons.h"
#include "analyzers/registry/statistics.h"
#include "analyzers/specdec/acceptance.h"
#include "analyzers/specdec/cost.h"
#include "analyzers/specdec/model.h"
#include "analyzers/specdec/settings.h"
#include "analyzers/specdec/specdec.h"
#include "dmprof/base/quantity.h"

namespace dmprof {
namespace {

using specdec::Acceptance;
using specdec::Setting;

constexpr double usual = 0.1;               // of drafting steps verify a position, for it to be a usual one
constexpr double assumed_draft_cost = 0.1;  // c, where it was not measured
constexpr std::uint64_t fewest_steps = 5;   // of a setting, for it to be judged

Acceptance acceptance_of(const View& view, const Scope& scope) {
  const std::vector<SpeculationStep> rows = view.speculation(scope);
  return specdec::measure_acceptance(rows);
}

// The deepest position that is usually verified, from 1; 0 = none.
std::size_t deepest_usual(const Acceptance& acceptance) {
  std::size_t deepest = 0;
  for (std::size_t k = 0; k < acceptance.positions.size(); ++k) {
    const auto verified = static_cast<double>(acceptance.positions[k].verified);
    if (verified > 0 && verified >= usual * static_cast<double>(acceptance.steps)) deepest = k + 1;
  }
  return deepest;
}

MetricValue none_drafted(const View& view, const Acceptance& acceptance) {
  return unavailable(acceptance.cut_short > 0 ? "every step with a draft was cut short" : reasons::no_draft(view));
}

MetricValue of_last_position(const View& view, const Scope& scope, bool conditional) {
  const Acceptance acceptance = acceptance_of(view, scope);
  const std::size_t deepest = deepest_usual(acceptance);
  if (deepest == 0) return none_drafted(view, acceptance);
  const Acceptance::Position& position = acceptance.positions[deepest - 1];
  const std::uint64_t cases = conditional ? position.reached : position.verified;
  if (cases == 0) return unavailable(fmt::format("everything before position {} was always rejected", deepest));
  MetricValue value = scalar(static_cast<double>(position.accepted) / static_cast<double>(cases), cases);
  value.subject = fmt::format("position {}", deepest);
  return value;
}

struct Paying {
  std::size_t lookahead = 0;
  double tokens = 1;  // per step
  std::uint64_t steps = 0;
  std::string how;
};
std::optional<Paying> paying(const View& view, const Scope& scope) {
  const Acceptance acceptance = acceptance_of(view, scope);
  const std::vector<double> a = acceptance.conditional();
  if (a.empty()) return std::nullopt;
  const specdec::Costs costs = specdec::measure_costs(specdec::step_samples(view, scope));
  const bool measured =
      costs.draft && costs.one_token_steps >= specdec::fewest_one_token_steps && !costs.verify.empty();
  const specdec::VerifyCurve curve(measured ? costs.verify : std::map<std::uint32_t, double>());
  Paying result;
  result.lookahead = specdec::best_lookahead(a, curve, measured ? *costs.draft : assumed_draft_cost).best;
  result.tokens = specdec::expected_tokens(std::span(a).first(result.lookahead));
  result.steps = acceptance.steps;
  result.how = measured ? "at the measured c and v(n)"
                        : fmt::format("c and v(n) were not measured: c = {} and v = 1 are assumed", assumed_draft_cost);
  return result;
}

MetricValue paying_lookahead(const View& view, const Scope& scope) {
  const std::optional<Paying> best = paying(view, scope);
  if (!best) return none_drafted(view, acceptance_of(view, scope));
  MetricValue value = scalar(static_cast<double>(best->lookahead), best->steps);
  value.reason = best->how;
  return value;
}

MetricValue paying_tokens(const View& view, const Scope& scope) {
  const std::optional<Paying> best = paying(view, scope);
  if (!best) return none_drafted(view, acceptance_of(view, scope));
  MetricValue value = scalar(best->tokens, best->steps);
  value.subject = fmt::format("N = {}", best->lookahead);
  value.reason = best->how;
  return value;
}

MetricValue lookahead_now(const View& view, const Scope& scope) {
  if (const std::optional<Knob> knob = view.recording().knob("lookahead")) {
    if (const std::optional<double> set = plain_number(knob->value)) {
      MetricValue value = scalar(*set, 1);
      value.reason = "as the engine registered it";
      return value;
    }
  }
  const Acceptance acceptance = acceptance_of(view, scope);
  const std::size_t deepest = deepest_usual(acceptance);
  if (deepest == 0) return none_drafted(view, acceptance);
  MetricValue value = scalar(static_cast<double>(deepest), acceptance.steps);
  value.reason = "the deepest position that is usually verified; the engine registers no knob lookahead";
  return value;
}

// What the engine ran with at a time: the newest value of each of the knobs that shape drafts.
struct Series {
  std::vector<Setting> settings;
  std::size_t now = 0;
  std::uint64_t steps = 0;
};
Series series_of(const View& view, const Scope& scope) {
  struct Sum {
    Setting setting;
    double tokens = 0, time = 0;
    std::uint64_t steps = 0, rows = 0;
  };
  const std::vector<Knob>& knobs = view.recording().knobs;
  const auto at = [&](const char* name, TimeNs time) -> const Knob* {
    const Knob* newest = nullptr;
    for (const Knob& knob : knobs) {
      if (knob.name == name && knob.since <= time && (newest == nullptr || knob.since >= newest->since)) newest = &knob;
    }
    return newest;
  };
  std::map<std::string, Sum> sums;
  std::string last;
  for (const Step& step : view.steps(scope)) {
    const Knob* lookahead = at("lookahead", step.start);
    const std::optional<double> n = lookahead == nullptr ? std::nullopt : plain_number(lookahead->value);
    if (!n) continue;
    last = fmt::format("N = {}", lookahead->value);
    if (const Knob* least = at("draft_p_min", step.start)) last += ", p_min = " + least->value;
    Sum& sum = sums[last];
    sum.setting.lookahead = *n, sum.setting.name = last;
    sum.time += static_cast<double>(step.duration), ++sum.steps;
    for (const SpeculationStep& row : view.rows_of_step(step.step)) sum.tokens += row.emitted, ++sum.rows;
  }
  Series series;
  for (auto& [name, sum] : sums) {
    if (sum.steps < fewest_steps || sum.rows == 0 || sum.time <= 0) continue;
    sum.setting.tokens_per_second = sum.tokens / (sum.time / 1e9);
    sum.setting.tokens_per_step = sum.tokens / static_cast<double>(sum.rows);
    if (name == last) series.now = series.settings.size();
    series.settings.push_back(sum.setting);
    series.steps += sum.steps;
  }
  const bool judged = std::any_of(series.settings.begin(), series.settings.end(),
                                  [&](const Setting& setting) { return setting.name == last; });
  if (!judged) series.settings.clear();
  return series;
}

MetricValue no_series() {
  return unavailable(fmt::format(
      "the knob lookahead was not turned during the recording, or fewer than {} steps ran at a setting", fewest_steps));
}

// "N = 2 at 175.5 tokens/s; positions 3 to 4 add 0.19 tokens a step and cost 6 %"
std::string in_words(const Setting& best, const Setting& now) {
  std::string text = fmt::format("{} at {:.1f} tokens/s", best.name, best.tokens_per_second);
  if (const std::optional<specdec::Margin> deeper = specdec::margin(best, now)) {
    const double first = best.lookahead + 1;
    text += fmt::format(
        "; position{} {}{} add {:.2f} tokens a step and cost {:.0f} %", first == now.lookahead ? "" : "s", first,
        first == now.lookahead ? "" : fmt::format(" to {}", now.lookahead), deeper->tokens, deeper->cost * 100);
  }
  return text;
}

MetricValue best_tried(const View& view, const Scope& scope) {
  const Series series = series_of(view, scope);
  if (series.settings.size() < 2) return no_series();
  const Setting& best = series.settings[specdec::best_setting(series.settings)];
  MetricValue value = scalar(best.lookahead, series.steps);
  value.subject = in_words(best, series.settings[series.now]);
  for (const Setting& setting : series.settings)
    value.beside.push_back({setting.name, "tokens/s", setting.tokens_per_second});
  return value;
}

MetricValue loss_against_best(const View& view, const Scope& scope) {
  const Series series = series_of(view, scope);
  if (series.settings.size() < 2) return no_series();
  const Setting &best = series.settings[specdec::best_setting(series.settings)], &now = series.settings[series.now];
  MetricValue value = scalar(1 - now.tokens_per_second / best.tokens_per_second, series.steps);
  value.subject = fmt::format("{} against {}", now.name, best.name);
  return value;
}

}  // namespace

void register_draft_positions(Catalogue& catalogue) {
  const Events rows = Events::speculation | Events::steps;
  const std::string needs = "speculation steps with a draft";
  const auto add = [&](const char* name, const char* unit, const char* definition, const std::string& what,
                       Direction direction, std::function<MetricValue(const View&, const Scope&)> compute) {
    catalogue.add({.name = name,
                   .unit = unit,
                   .definition = definition,
                   .needs = what,
                   .events = rows,
                   .direction = direction,
                   .keeps_warm_up = true,
                   .compute = std::move(compute)});
  };
  add("last_position_acceptance", "ratio",
      "accepted / reached at the deepest draft position that a tenth of the drafting steps verify; reached: everything "
      "before it was accepted",
      needs, Direction::higher_is_better,
      [](const View& view, const Scope& scope) { return of_last_position(view, scope, true); });
  add("last_position_yield", "ratio",
      "accepted / verified at the deepest draft position that a tenth of the drafting steps verify", needs,
      Direction::higher_is_better,
      [](const View& view, const Scope& scope) { return of_last_position(view, scope, false); });
  add("lookahead_now", "tokens",
      "the newest value of the knob lookahead, else the deepest draft position that a tenth of the drafting steps "
      "verify",
      "the knob lookahead, or speculation steps with a draft", Direction::none, lookahead_now);
  add("paying_lookahead", "tokens",
      "N with the greatest E_N / (v(N+1) + N c), E_N from the measured a_k; where c and v(n) were not measured, "
      "c = 0.1 and v = 1 are assumed, and the value says so",
      needs, Direction::none, paying_lookahead);
  add("paying_lookahead_tokens", "tokens/step", "E_N, tokens per step, at the N of paying_lookahead", needs,
      Direction::higher_is_better, paying_tokens);
  add("measured_best_lookahead", "tokens",
      "the lookahead with the most tokens/s of step time among the settings that ran for 5 steps in this recording",
      "a knob lookahead that was turned during the recording", Direction::none, best_tried);
  add("measured_lookahead_loss", "ratio",
      "1 - tokens/s at the setting that ran last / at the best setting of measured_best_lookahead",
      "a knob lookahead that was turned during the recording", Direction::lower_is_better, loss_against_best);
}

}  // namespace dmprof
