#include "rules/engine/instruments.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "rules/engine/row.h"

namespace dmprof::rules {
namespace {

constexpr const char* loss_metric = "events_lost";

void note_invalid(Diagnosis& diagnosis, Instruments& instruments, const MetricValue& value) {
  const std::string said = fmt::format("{}: {}", value.name, value.reason);
  diagnosis.instrument.push_back(
      {value.name == loss_metric ? "instrument-balance" : "instrument-ratio", Severity::error, {said, said}, {}});
  instruments.distrusted[value.name].insert(diagnosis.instrument.size() - 1);
  if (value.name == loss_metric) instruments.loss = diagnosis.instrument.size() - 1;
}

void note_loss(Diagnosis& diagnosis, Instruments& instruments, const MetricValue& lost, double tolerated) {
  const double all = *lost.value + static_cast<double>(lost.samples), share = *lost.value / all;
  const bool too_many = share > tolerated;
  std::string causes;
  for (const Part& part : lost.parts)
    causes += fmt::format("{}{} {:.0f}", causes.empty() ? "" : ", ", part.name, part.value);
  diagnosis.instrument.push_back(
      {"instrument-loss",
       too_many ? Severity::error : Severity::info,
       {fmt::format("{:.0f} of {:.0f} events were lost ({}); {}", *lost.value, all, causes,
                    too_many ? "counts and shares are not to be trusted: record again, more slowly or with less on"
                             : "too few to change a finding"),
        fmt::format("{:.0f} 个事件（共 {:.0f}）丢失（{}）；{}", *lost.value, all, causes,
                    too_many ? "计数与占比不可信：请放慢速度或减少采集内容后重新记录" : "数量太少，不影响结论")},
       {}});
  if (too_many) instruments.loss = diagnosis.instrument.size() - 1;
}

}  // namespace

Instruments check_instruments(Diagnosis& diagnosis, std::span<const MetricValue> values, const Context& context) {
  Instruments instruments;
  if (context.broken_off) {
    diagnosis.instrument.push_back(
        {"instrument-broken-off",
         Severity::warning,
         {"the recording broke off (its recorder was killed or could not write): findings rest on what was committed, "
          "how much was lost is not known",
          "记录中断（记录进程被终止或无法写入）：结论仅依据已提交的部分，丢失多少不得而知"},
         {}});
  }
  if (!context.cut_off.empty())
    diagnosis.instrument.push_back({"instrument-cut-off", Severity::warning, {context.cut_off, context.cut_off}, {}});
  if (!context.too_short.empty()) {
    diagnosis.instrument.push_back(
        {"instrument-too-short", Severity::warning, {context.too_short, context.too_short}, {}});
    instruments.too_short = diagnosis.instrument.size() - 1;
    // Where the time of a few steps went says nothing about the next ones.
    diagnosis.limiting.clear();
    for (BudgetPart& part : diagnosis.budget) part.critical = false;
  }
  for (const MetricValue& value : values) {
    if (value.status == ValueStatus::invalid) note_invalid(diagnosis, instruments, value);
    if (value.name == loss_metric && value.ok() && *value.value > 0)
      note_loss(diagnosis, instruments, value, context.tolerated_loss);
  }
  return instruments;
}

void distrust(Diagnosis& diagnosis, Instruments& instruments, const Rule& rule, Text message,
              const std::vector<std::string>& columns, const Catalogue& catalogue,
              std::span<const MetricValue> values) {
  diagnosis.instrument.push_back({rule.id, rule.severity, std::move(message), {}});
  const std::size_t note = diagnosis.instrument.size() - 1;
  for (const std::string& metric : *rule.distrusts) instruments.distrusted[metric].insert(note);
  for (const std::string& column : columns) {
    const std::string name = metric_of(column, catalogue);
    for (const MetricValue& value : values) {
      if (value.name != name) continue;
      for (const Part& part : value.parts) {
        if (catalogue.find(part.name) != nullptr) instruments.distrusted[part.name].insert(note);
      }
    }
  }
}

bool withhold(Diagnosis& diagnosis, const Instruments& instruments, const Rule& rule,
              const std::vector<std::string>& columns, const Catalogue& catalogue) {
  std::set<std::size_t> notes;
  if (instruments.loss) notes.insert(*instruments.loss);
  if (instruments.too_short) notes.insert(*instruments.too_short);
  for (const std::string& column : columns) {
    const auto found = instruments.distrusted.find(metric_of(column, catalogue));
    if (found != instruments.distrusted.end()) notes.insert(found->second.begin(), found->second.end());
  }
  for (const std::size_t note : notes) diagnosis.instrument[note].withheld.push_back(rule.id);
  return !notes.empty();
}

std::string why_not_cleared(const Diagnosis& diagnosis, const Instruments& instruments,
                            const std::vector<std::string>& columns, const Catalogue& catalogue) {
  if (instruments.loss) return "too many events were lost to clear it";
  if (instruments.too_short) return "the recording is too short to clear it";
  for (const std::string& column : columns) {
    const std::string metric = metric_of(column, catalogue);
    const auto found = instruments.distrusted.find(metric);
    if (found != instruments.distrusted.end())
      return fmt::format("{} is distrusted ({})", metric, diagnosis.instrument[*found->second.begin()].check);
  }
  return "";
}

}  // namespace dmprof::rules
