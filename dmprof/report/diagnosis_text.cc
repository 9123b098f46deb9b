#include "dmprof/report/diagnosis_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dmprof/report/format.h"

namespace dmprof::report {

namespace {

constexpr int bar_width = 40;

std::string budget_text(const rules::Diagnosis& diagnosis, const Style& style) {
  if (diagnosis.budget.empty())
    return fmt::format("{} unavailable: {}\n", style.bold("Time budget"), printable(diagnosis.budget_reason));
  std::vector<double> shares;
  std::size_t widest = 0;
  for (const rules::BudgetPart& part : diagnosis.budget) {
    shares.push_back(part.share);
    widest = std::max(widest, display_width(part.part));
  }
  const std::vector<int> tenths = rounded_shares(shares);
  std::string text = style.bold("Time budget of a decode step");
  if (!diagnosis.limiting.empty()) text += fmt::format(" (limited by {})", style.bold(printable(diagnosis.limiting)));
  text += '\n';
  for (std::size_t i = 0; i < diagnosis.budget.size(); ++i) {
    const rules::BudgetPart& part = diagnosis.budget[i];
    const auto length =
        static_cast<std::size_t>(std::clamp(std::lround(part.share * bar_width), 0L, static_cast<long>(bar_width)));
    const std::string bar = std::string(length, '#') + std::string(bar_width - length, '.');
    text += fmt::format("  {}  {:>5}.{} %  {}{}\n", padded(printable(part.part), widest), tenths[i] / 10,
                        tenths[i] % 10, bar, part.critical ? "  critical" : "");
  }
  const int sum = std::accumulate(tenths.begin(), tenths.end(), 0);
  return text + fmt::format("  {}  {:>5}.{} %\n", padded("sum", widest), sum / 10, sum % 10);
}

std::string coloured(rules::Severity severity, const Style& style) {
  const std::string_view word = rules::to_text(severity);
  if (severity == rules::Severity::error) return style.bad(word);
  return severity == rules::Severity::warning ? style.warn(word) : style.dim(word);
}

std::string fix_text(const rules::SuggestedFix& fix, const Style& style) {
  std::string text = fmt::format("    fix: {} {} -> {}", printable(fix.knob),
                                 fix.from ? printable(*fix.from) : "(now unknown)", printable(fix.to));
  if (fix.predicted_gain) {
    text += fmt::format(", predicted {:.2f} x ({:.2f} to {:.2f})", fix.predicted_gain->mid, fix.predicted_gain->low,
                        fix.predicted_gain->high);
  }
  if (fix.measured_gain) text += fmt::format(", measured {:.2f} x", *fix.measured_gain);
  text += '\n';
  if (!fix.note.empty()) text += fmt::format("      {}\n", printable(fix.note));
  const auto own = fix.command.find(fix.recorded_engine);
  if (own != fix.command.end()) text += fmt::format("      try: {}\n", style.bold(printable(own->second)));
  for (const auto& [engine, command] : fix.command) {
    if (engine != fix.recorded_engine) text += fmt::format("      {}: {}\n", printable(engine), printable(command));
  }
  return text;
}

std::string finding_text(const rules::Finding& finding, const Style& style) {
  std::string text = fmt::format("  {} {} {} (confidence {})\n", coloured(finding.severity, style),
                                 style.bold(finding.rule), printable(finding.title.en), printable(finding.confidence));
  text += fmt::format("    because {}\n", printable(finding.because.en));
  for (const rules::Evidence& one : finding.evidence) {
    text +=
        fmt::format("    {} = {} (n={}{}{})  {}\n", one.metric, quantity(one.value, one.unit), thousands(one.samples),
                    one.window.empty() ? "" : ", ", printable(one.window), style.dim(printable(one.definition)));
  }
  for (const std::string& check : finding.checks) text += fmt::format("    check: {}\n", printable(check));
  for (const rules::SuggestedFix& fix : finding.fixes) text += fix_text(fix, style);
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

std::string diagnosis_text(const rules::Diagnosis& diagnosis, const Style& style) {
  std::string text = budget_text(diagnosis, style);
  if (!diagnosis.instrument.empty()) {
    text += '\n' + style.bold("About the recording itself") + '\n';
    for (const rules::InstrumentNote& note : diagnosis.instrument) {
      text += fmt::format("  {} {}: {}\n", coloured(note.severity, style), note.check, printable(note.message));
      if (!note.withheld.empty())
        text += fmt::format("    withheld, since they rest on it: {}\n", fmt::join(note.withheld, ", "));
    }
  }
  text += '\n' + style.bold(diagnosis.findings.empty() ? "No findings" : "Findings") + '\n';
  for (const rules::Finding& finding : diagnosis.findings) text += finding_text(finding, style);
  if (!diagnosis.cleared.empty()) {
    text += '\n' + style.bold("Examined, and not the problem") + '\n';
    for (const rules::Cleared& cleared : diagnosis.cleared)
      text += fmt::format("  {} {}: {}\n", style.good("ok"), cleared.rule, printable(cleared.because));
  }
  if (!diagnosis.not_evaluated.empty()) {
    text += '\n' + style.bold("Could not be judged") + '\n';
    for (const rules::NotEvaluated& rule : diagnosis.not_evaluated)
      text += fmt::format("  {}: {}\n", rule.rule, printable(rule.because));
  }
  return text;
}

}  // namespace dmprof::report
