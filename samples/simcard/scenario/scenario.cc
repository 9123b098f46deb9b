#include "samples/simcard/scenario/scenario.h"

#include <algorithm>

#include <fmt/format.h>

namespace dmprof::simcard {
namespace {

// Any finite number, negative ones too: a claim may be "-57 %".
std::optional<double> signed_number(Section& s, std::string_view key) {
  std::string text;
  s.text(key, text, "");
  if (text.empty()) return std::nullopt;
  const bool negative = text.front() == '-';
  const Result<double> value = parse_quantity(negative ? std::string_view(text).substr(1) : text, Quantity::number);
  if (value) return negative ? -*value : *value;
  s.complain(key, value.error().message);
  return std::nullopt;
}

void read_claims(Section claims, std::vector<Claimed>& out) {
  for (const std::string& figure : claims.keys()) {
    Claimed claimed;
    claimed.figure = figure;
    claimed.line = claims.line(figure);
    Section s = claims.section(figure);
    claimed.says = signed_number(s, "says");
    claimed.low = signed_number(s, "low");
    claimed.high = signed_number(s, "high");
    s.quantity("tolerance", Quantity::ratio, claimed.tolerance, 0.1);
    s.text("assumes", claimed.assumes, "");
    if (s.ok() && claimed.says.has_value() == (claimed.low || claimed.high))
      s.complain("", "needs either `says` or a range (`low`, `high` or both)");
    (void)s.finish();
    out.push_back(std::move(claimed));
  }
}

Compared compare(const Claimed& claimed, double value) {
  Compared c;
  c.claimed = claimed;
  c.value = value;
  if (claimed.says) {
    c.residual = *claimed.says != 0 ? (value - *claimed.says) / *claimed.says : value;
    c.within = c.residual <= claimed.tolerance && c.residual >= -claimed.tolerance;
    return c;
  }
  const auto beyond = [&](double bound) { return bound != 0 ? (value - bound) / (bound > 0 ? bound : -bound) : value; };
  if (claimed.low && value < *claimed.low)
    c.residual = beyond(*claimed.low);
  else if (claimed.high && value > *claimed.high)
    c.residual = beyond(*claimed.high);
  else
    c.within = true;
  return c;
}

}  // namespace

Result<Scenario> read_scenario(const Document& document) {
  Section s = document.root();
  Scenario scenario;
  scenario.settings = s.section("settings");
  scenario.file = document.name();
  s.text("id", scenario.id);
  s.text("title", scenario.title);
  s.text("claim", scenario.claim);
  s.text("experiment", scenario.experiment);
  scenario.experiment_at = s.where("experiment");
  s.text("conditions", scenario.conditions, "");
  s.text("reason", scenario.reason, "");
  s.integer("seed", scenario.seed, 0, INT64_MAX, 1);
  read_claims(s.section("claims"), scenario.claims);
  if (s.ok() && scenario.claims.empty()) s.complain("claims", "claims nothing; name a figure and what is said of it");
  DMPROF_TRY(s.finish());
  return scenario;
}

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "holds";
    case Verdict::holds_under_conditions:
      return "holds under stated conditions";
    case Verdict::assumed:
      return "follows from what is assumed";
    case Verdict::contradicted:
      return "contradicted";
  }
  return "";
}

Result<Outcome> judge(Scenario scenario, Figures figures) {
  Outcome outcome;
  outcome.scenario = std::move(scenario);
  outcome.figures = std::move(figures);
  const Scenario& sc = outcome.scenario;
  bool all = true, tried = false;
  for (const Claimed& claimed : sc.claims) {
    const auto found = std::find_if(outcome.figures.begin(), outcome.figures.end(),
                                    [&](const Figure& figure) { return figure.name == claimed.figure; });
    if (found == outcome.figures.end())
      return fail(ErrorKind::bad_input,
                  fmt::format("{}:{}: claims.{}: {} gives no such figure; remove it or mend its name", sc.file,
                              claimed.line, claimed.figure, sc.experiment));
    outcome.compared.push_back(compare(claimed, found->value));
    all = all && outcome.compared.back().within;
    tried = tried || claimed.assumes.empty();
  }
  outcome.verdict = !all                    ? Verdict::contradicted
                    : !tried                ? Verdict::assumed
                    : sc.conditions.empty() ? Verdict::holds
                                            : Verdict::holds_under_conditions;
  if (!all && sc.reason.empty())
    return fail(ErrorKind::bad_input,
                fmt::format("{}:1: reason: is missing and the figures contradict the claim; say why", sc.file));
  return outcome;
}

}  // namespace dmprof::simcard
