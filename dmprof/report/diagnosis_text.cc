#include "dmprof/report/diagnosis_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "dmprof/report/findings_text.h"
#include "dmprof/report/format.h"
#include "dmprof/report/voice.h"

namespace dmprof::report {

namespace {

constexpr int bar_width = 40;
// In the brief form: rules cleared with their number, and how many must lack the same for it to be told.
constexpr std::size_t cleared_in_words = 5;
constexpr std::size_t lacking_the_same = 3;

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

std::string instrument_text(const rules::Diagnosis& diagnosis, const Voice& voice) {
  std::string text;
  for (const rules::InstrumentNote& note : diagnosis.instrument) {
    text += fmt::format("  {} {}: {}\n", voice.coloured(note.severity), note.check,
                        printable(note.message.in(voice.language)));
    if (!note.withheld.empty())
      text += fmt::format("    {}\n", sentence(voice.say.withheld, fmt::format("{}", fmt::join(note.withheld, ", "))));
  }
  return text;
}

// What else could have been the worst comes first.
std::string cleared_text(const rules::Diagnosis& diagnosis, const Voice& voice, Detail detail) {
  std::vector<const rules::Cleared*> order;
  for (const rules::Cleared& cleared : diagnosis.cleared) order.push_back(&cleared);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->severity > b->severity; });
  const std::size_t in_words = detail == Detail::full ? order.size() : std::min(cleared_in_words, order.size());
  std::string text;
  for (std::size_t i = 0; i < in_words; ++i)
    text += fmt::format("  {} {}: {}\n", voice.style.good("ok"), order[i]->rule,
                        printable(order[i]->because.in(voice.language)));
  std::vector<std::string> names;
  for (std::size_t i = in_words; i < order.size(); ++i) names.push_back(order[i]->rule);
  if (!names.empty()) text += fmt::format("  {} {}\n", voice.style.good("ok"), fmt::join(names, ", "));
  return text;
}

// Rules that lack the same stand together.
std::string not_judged_text(const rules::Diagnosis& diagnosis, const Voice& voice, Detail detail) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;  // reason, rules
  for (const rules::NotEvaluated& rule : diagnosis.not_evaluated) {
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == rule.because; });
    if (same != groups.end()) {
      same->second.push_back(rule.rule);
    } else {
      groups.push_back({rule.because, {rule.rule}});
    }
  }
  std::string text;
  std::vector<std::string> others;
  for (const auto& [because, names] : groups) {
    if (detail == Detail::full || names.size() >= lacking_the_same) {
      text += fmt::format("  {}: {}\n", fmt::join(names, ", "), printable(because));
    } else {
      others.insert(others.end(), names.begin(), names.end());
    }
  }
  if (!others.empty())
    text += fmt::format("  {}\n", sentence(voice.say.lacking, fmt::format("{}", fmt::join(others, ", "))));
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

std::string diagnosis_text(const rules::Diagnosis& diagnosis, const Style& style, rules::Language language,
                           Detail detail) {
  const Voice voice{style, language};
  const Phrases& say = voice.say;
  const auto part = [&](std::string_view heading, const std::string& lines) {
    return lines.empty() ? "" : fmt::format("\n{}\n{}", style.bold(heading), lines);
  };
  std::string text = budget_text(diagnosis, voice);
  text += part(say.recording, instrument_text(diagnosis, voice));
  text += '\n' + style.bold(diagnosis.findings.empty() ? say.no_findings : say.findings) + '\n';
  text += findings_text(diagnosis, voice);
  const std::string cleared = cleared_text(diagnosis, voice, detail);
  const std::string not_judged = not_judged_text(diagnosis, voice, detail);
  text += part(say.cleared, cleared) + part(say.not_judged, not_judged);
  if (detail == Detail::brief && !(cleared + not_judged).empty())
    text += fmt::format("  {}\n", style.dim(say.ask_full));
  std::string refused;
  for (const rules::RefusedRule& rule : diagnosis.refused) refused += fmt::format("  {}\n", printable(rule.because));
  return text + part(say.refused, refused);
}

}  // namespace dmprof::report
