// The table for people, for the documentation, and for scripts.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "samples/simcard/scenario/table.h"

namespace dmprof::simcard {
namespace {

std::string number(double value) { return fmt::format("{:.4g}", value); }

std::string claimed_text(const Claimed& c) {
  if (c.says) return number(*c.says);
  if (c.low && c.high) return number(*c.low) + " to " + number(*c.high);
  return c.low ? "at least " + number(*c.low) : "at most " + number(*c.high);
}

std::string residual_text(const Compared& c) {
  if (!c.claimed.assumes.empty() && c.within) return "assumed";
  if (!c.claimed.says && c.within) return "within";
  return fmt::format("{:+.1f} %", 100 * c.residual);
}

std::string unit_of(const Outcome& outcome, const std::string& name) {
  for (const Figure& figure : outcome.figures) {
    if (figure.name == name) return figure.unit;
  }
  return "";
}

bool is_claimed(const Outcome& outcome, const Figure& figure) {
  return std::any_of(outcome.compared.begin(), outcome.compared.end(),
                     [&](const Compared& c) { return c.claimed.figure == figure.name; });
}

std::string others(const Outcome& outcome, std::string_view separator) {
  std::string text;
  for (const Figure& figure : outcome.figures) {
    if (is_claimed(outcome, figure)) continue;
    text += fmt::format("{}{} {} {}", text.empty() ? "" : separator, figure.name, number(figure.value), figure.unit);
  }
  return text;
}

// A folded YAML text ends in a line end.
std::string line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// A line for each figure that rests on settings alone.
std::string assumptions(const Outcome& outcome, std::string_view before, std::string_view after) {
  std::string text;
  for (const Compared& c : outcome.compared) {
    if (!c.claimed.assumes.empty())
      text += fmt::format("{}{} follows from {}{}", before, c.claimed.figure, line(c.claimed.assumes), after);
  }
  return text;
}

}  // namespace

std::string table_text(const std::vector<Outcome>& outcomes) {
  std::string text;
  for (const Outcome& o : outcomes) {
    text += fmt::format("{:<4} {}\n     claim     {}\n", o.scenario.id, line(o.scenario.title), line(o.scenario.claim));
    for (const Compared& c : o.compared) {
      text +=
          fmt::format("     {:<40} {:>10} {:<9} claimed {:<16} {:>10}{}\n", c.claimed.figure, number(c.value),
                      unit_of(o, c.claimed.figure), claimed_text(c.claimed), residual_text(c), c.within ? "" : "  <");
    }
    if (const std::string rest = others(o, ", "); !rest.empty()) text += "     also      " + rest + "\n";
    text += assumptions(o, "     assumed   ", "\n");
    text += fmt::format("     verdict   {}\n", verdict_name(o.verdict));
    if (!o.scenario.conditions.empty()) text += "     if        " + line(o.scenario.conditions) + "\n";
    if (!o.scenario.reason.empty()) text += "     because   " + line(o.scenario.reason) + "\n";
    text += "\n";
  }
  return text;
}

std::string table_markdown(const std::vector<Outcome>& outcomes) {
  std::string text =
      "# Scenarios\n\nWritten by `dm-simcard scenarios --markdown`; a test checks that it is current. Every figure "
      "comes from a run of\n"
      "`samples/scenarios/<id>.yaml`. The residual is (model - claim) / claim; `within` means inside the claimed "
      "range, `assumed` that the figure\nfollows from the settings by arithmetic alone, so that it confirms "
      "nothing.\n\n"
      "| id | claim | figure | claimed | model | residual | verdict |\n|---|---|---|---|---|---|---|\n";
  for (const Outcome& o : outcomes) {
    bool first = true;
    for (const Compared& c : o.compared) {
      text +=
          fmt::format("| {} | {} | {} | {} | {} {} | {} | {} |\n", first ? o.scenario.id : "",
                      first ? line(o.scenario.claim) : "", c.claimed.figure, claimed_text(c.claimed), number(c.value),
                      unit_of(o, c.claimed.figure), residual_text(c), first ? verdict_name(o.verdict) : "");
      first = false;
    }
  }
  text += "\n## Conditions, reasons and the other figures\n";
  for (const Outcome& o : outcomes) {
    text += fmt::format("\n### {}: {}\n", o.scenario.id, line(o.scenario.title));
    if (!o.scenario.conditions.empty()) text += "Conditions: " + line(o.scenario.conditions) + "\n\n";
    if (!o.scenario.reason.empty()) text += "Reason: " + line(o.scenario.reason) + "\n\n";
    text += assumptions(o, "Assumed: ", "\n\n");
    if (const std::string rest = others(o, "; "); !rest.empty()) text += "Also: " + rest + "\n";
  }
  return text;
}

std::string table_json(const std::vector<Outcome>& outcomes) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Outcome& o : outcomes) {
    nlohmann::ordered_json row = {{"id", o.scenario.id},
                                  {"title", line(o.scenario.title)},
                                  {"claim", line(o.scenario.claim)},
                                  {"verdict", verdict_name(o.verdict)},
                                  {"conditions", line(o.scenario.conditions)},
                                  {"reason", line(o.scenario.reason)},
                                  {"claimed", nlohmann::ordered_json::array()},
                                  {"figures", nlohmann::ordered_json::array()}};
    for (const Compared& c : o.compared) {
      nlohmann::ordered_json claimed = {
          {"figure", c.claimed.figure}, {"model", c.value}, {"residual", c.residual}, {"within", c.within}};
      if (c.claimed.says) claimed["says"] = *c.claimed.says;
      if (c.claimed.says) claimed["tolerance"] = c.claimed.tolerance;
      if (!c.claimed.assumes.empty()) claimed["assumes"] = line(c.claimed.assumes);
      if (c.claimed.low) claimed["low"] = *c.claimed.low;
      if (c.claimed.high) claimed["high"] = *c.claimed.high;
      row["claimed"].push_back(std::move(claimed));
    }
    for (const Figure& figure : o.figures)
      row["figures"].push_back({{"name", figure.name}, {"value", figure.value}, {"unit", figure.unit}});
    rows.push_back(std::move(row));
  }
  return nlohmann::ordered_json{{"scenarios", std::move(rows)}}.dump(2) + "\n";
}

}  // namespace dmprof::simcard
