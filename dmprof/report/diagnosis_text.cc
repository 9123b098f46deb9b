#include "dmprof/report/diagnosis_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "dmprof/report/diagnosis_phrases.h"
#include "dmprof/report/format.h"

namespace dmprof::report {

namespace {

constexpr int bar_width = 40;

// What every part of the report is written with.
struct Voice {
  const Style& style;
  rules::Language language;
  const Phrases& say = phrases(language);
};

template <class... Arguments>
std::string sentence(std::string_view phrase, const Arguments&... arguments) {
  return fmt::format(fmt::runtime(phrase), arguments...);
}

std::string budget_text(const rules::Diagnosis& diagnosis, const Voice& voice) {
  const Phrases& say = voice.say;
  if (diagnosis.budget.empty()) return sentence(say.budget_unavailable, printable(diagnosis.budget_reason)) + '\n';
  std::vector<double> shares;
  std::size_t widest = display_width(say.sum);
  for (const rules::BudgetPart& part : diagnosis.budget) {
    shares.push_back(part.share);
    widest = std::max(widest, display_width(part.part));
  }
  const std::vector<int> tenths = rounded_shares(shares);
  std::string text = voice.style.bold(say.budget);
  if (!diagnosis.limiting.empty()) text += sentence(say.limited_by, voice.style.bold(printable(diagnosis.limiting)));
  text += '\n';
  for (std::size_t i = 0; i < diagnosis.budget.size(); ++i) {
    const rules::BudgetPart& part = diagnosis.budget[i];
    const auto length =
        static_cast<std::size_t>(std::clamp(std::lround(part.share * bar_width), 0L, static_cast<long>(bar_width)));
    const std::string bar = std::string(length, '#') + std::string(bar_width - length, '.');
    text += fmt::format("  {}  {:>5}.{} %  {}{}{}\n", padded(printable(part.part), widest), tenths[i] / 10,
                        tenths[i] % 10, bar, part.critical ? "  " : "", part.critical ? say.critical : "");
  }
  const int sum = std::accumulate(tenths.begin(), tenths.end(), 0);
  return text + fmt::format("  {}  {:>5}.{} %\n", padded(say.sum, widest), sum / 10, sum % 10);
}

std::string coloured(rules::Severity severity, const Voice& voice) {
  const std::string_view word = voice.say.severity(severity);
  if (severity == rules::Severity::error) return voice.style.bad(word);
  return severity == rules::Severity::warning ? voice.style.warn(word) : voice.style.dim(word);
}

std::string coloured_verdict(const rules::Measured& measured, const Voice& voice) {
  if (measured.verdict == "confirmed") return voice.style.good(voice.say.confirmed);
  if (measured.verdict == "worse") return voice.style.bad(voice.say.worse);
  return voice.style.warn(voice.say.no_effect);
}

// The objective first, then what else a person would ask about.
std::string measured_text(const rules::Measured& measured, const Voice& voice) {
  const Phrases& say = voice.say;
  std::string figures;
  std::vector<std::string> names = {measured.objective};
  for (const std::string_view name : {"throughput", "decode_throughput", "tpot", "itl.p99", "ttft", "e2e_latency",
                                      "step_time", "prefetch_hit_rate"}) {
    if (name != measured.objective) names.emplace_back(name);
  }
  for (const std::string& name : names) {
    const auto found = measured.ratios.find(name);
    if (found == measured.ratios.end()) continue;
    const rules::Gain& ratio = found->second;
    figures += fmt::format("{}{} {:.2f} x", figures.empty() ? "" : ", ", printable(name), ratio.mid);
    if (!measured.exact) figures += sentence(say.from_to, ratio.low, ratio.high);
  }
  return sentence(say.tried, coloured_verdict(measured, voice), figures,
                  measured.exact ? std::string(say.exact) : sentence(say.pairs, measured.pairs));
}

std::string fix_text(const rules::SuggestedFix& fix, const Voice& voice) {
  const Phrases& say = voice.say;
  std::string text =
      "    " + sentence(say.fix, printable(fix.knob), fix.from ? printable(*fix.from) : std::string(say.now_unknown),
                        printable(fix.to));
  if (fix.predicted_gain)
    text += sentence(say.predicted, fix.predicted_gain->low, fix.predicted_gain->high, fix.predicted_gain->metric,
                     fix.predicted_gain->mid);
  text += '\n';
  if (fix.predicted_cost)
    text += fmt::format("      {}\n", sentence(say.costs, fix.predicted_cost->metric, fix.predicted_cost->low,
                                               fix.predicted_cost->high, fix.predicted_cost->mid));
  if (!fix.gain_reason.empty())
    text += fmt::format("      {}\n", sentence(say.unpredicted, printable(fix.gain_reason)));
  if (fix.measured) text += fmt::format("      {}\n", measured_text(*fix.measured, voice));
  if (!fix.note.empty()) text += fmt::format("      {}\n", printable(fix.note));
  const auto own = fix.command.find(fix.recorded_engine);
  if (own != fix.command.end())
    text += fmt::format("      {}\n", sentence(say.attempt, voice.style.bold(printable(own->second))));
  for (const auto& [engine, command] : fix.command) {
    if (engine != fix.recorded_engine) text += fmt::format("      {}: {}\n", printable(engine), printable(command));
  }
  return text;
}

// Whether a line of fix_text() begins with the name of an engine.
bool names_engines(const rules::Diagnosis& diagnosis) {
  const auto other = [](const rules::SuggestedFix& fix) {
    return std::any_of(fix.command.begin(), fix.command.end(),
                       [&](const auto& command) { return command.first != fix.recorded_engine; });
  };
  return std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), [&](const rules::Finding& finding) {
    return std::any_of(finding.fixes.begin(), finding.fixes.end(), other);
  });
}

std::string finding_text(const rules::Finding& finding, const Voice& voice) {
  const Phrases& say = voice.say;
  std::string text =
      fmt::format("  {}\n    {}\n",
                  sentence(say.heading, coloured(finding.severity, voice), voice.style.bold(finding.rule),
                           printable(finding.title.in(voice.language)), printable(say.confidence(finding.confidence))),
                  sentence(say.because, printable(finding.because.in(voice.language))));
  for (const rules::Evidence& one : finding.evidence) {
    text +=
        fmt::format("    {} = {} (n={}{}{})  {}\n", one.metric, quantity(one.value, one.unit), thousands(one.samples),
                    one.window.empty() ? "" : ", ", printable(one.window), voice.style.dim(printable(one.definition)));
  }
  for (const std::string& check : finding.checks)
    text += fmt::format("    {}\n", sentence(say.check, printable(check)));
  for (const rules::SuggestedFix& fix : finding.fixes) text += fix_text(fix, voice);
  return text;
}

}  // namespace

std::vector<int> rounded_shares(const std::vector<double>& shares) {
  std::vector<int> tenths;
  std::vector<std::pair<double, std::size_t>> remainders;
  double sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double share = std::isfinite(shares[i]) ? std::clamp(shares[i], 0.0, 10.0) * 1000 : 0;
    sum += share;
    tenths.push_back(static_cast<int>(std::floor(share)));
    remainders.emplace_back(share - std::floor(share), i);
  }
  int missing = static_cast<int>(std::lround(sum)) - std::accumulate(tenths.begin(), tenths.end(), 0);
  std::stable_sort(remainders.begin(), remainders.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [remainder, index] : remainders) {
    if (missing-- <= 0) break;
    ++tenths[index];
  }
  return tenths;
}

std::string diagnosis_text(const rules::Diagnosis& diagnosis, const Style& style, rules::Language language) {
  const Voice voice{style, language};
  const Phrases& say = voice.say;
  std::string text = budget_text(diagnosis, voice);
  if (!diagnosis.instrument.empty()) {
    text += '\n' + style.bold(say.recording) + '\n';
    for (const rules::InstrumentNote& note : diagnosis.instrument) {
      text += fmt::format("  {} {}: {}\n", coloured(note.severity, voice), note.check, printable(note.message));
      if (!note.withheld.empty())
        text += fmt::format("    {}\n", sentence(say.withheld, fmt::format("{}", fmt::join(note.withheld, ", "))));
    }
  }
  text += '\n' + style.bold(diagnosis.findings.empty() ? say.no_findings : say.findings) + '\n';
  for (const rules::Finding& finding : diagnosis.findings) text += finding_text(finding, voice);
  if (names_engines(diagnosis)) text += fmt::format("  {}\n", style.dim(say.other_engines));
  if (!diagnosis.cleared.empty()) {
    text += '\n' + style.bold(say.cleared) + '\n';
    for (const rules::Cleared& cleared : diagnosis.cleared)
      text += fmt::format("  {} {}: {}\n", style.good("ok"), cleared.rule, printable(cleared.because.in(language)));
  }
  if (!diagnosis.not_evaluated.empty()) {
    text += '\n' + style.bold(say.not_judged) + '\n';
    for (const rules::NotEvaluated& rule : diagnosis.not_evaluated)
      text += fmt::format("  {}: {}\n", rule.rule, printable(rule.because));
  }
  return text;
}

}  // namespace dmprof::report
