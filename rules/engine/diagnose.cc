#include "rules/engine/diagnose.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "rules/engine/fixes.h"
#include "rules/engine/row.h"
#include "rules/engine/text.h"

namespace dmprof::rules {
namespace {

constexpr const char* budget_metric = "time_budget";
constexpr const char* loss_metric = "events_lost";

const MetricValue* find(std::span<const MetricValue> values, const std::string& name) {
  const auto found =
      std::find_if(values.begin(), values.end(), [&](const MetricValue& value) { return value.name == name; });
  return found == values.end() ? nullptr : &*found;
}

// "bandwidth_utilization is 71.0 % (backing)"
Text stated(const std::string& column, const Catalogue& catalogue, std::span<const MetricValue> values) {
  const std::string metric = metric_of(column, catalogue);
  const MetricValue* value = find(values, metric);
  const std::string number = fill("{" + column + "}", values, {});
  if (value == nullptr || value->subject.empty())
    return {fmt::format("{} is {}", column, number), fmt::format("{} 为 {}", column, number)};
  return {fmt::format("{} is {} ({})", column, number, value->subject),
          fmt::format("{} 为 {}（{}）", column, number, value->subject)};
}

std::string with_thresholds(std::string condition, const std::map<std::string, double>& thresholds) {
  // Longest names first: ":low" must not eat the start of ":lower".
  std::vector<std::pair<std::string, double>> ordered(thresholds.begin(), thresholds.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  for (const auto& [name, number] : ordered) {
    const std::string token = ":" + name;
    for (std::size_t at = condition.find(token); at != std::string::npos; at = condition.find(token))
      condition.replace(at, token.size(), fmt::format("{:g}", number));
  }
  return condition;
}

void take_budget(Diagnosis& diagnosis, std::span<const MetricValue> values) {
  const MetricValue* budget = find(values, budget_metric);
  if (budget == nullptr || !budget->ok()) {
    diagnosis.budget_reason = budget == nullptr ? "time_budget was not evaluated" : budget->reason;
    return;
  }
  for (const Part& part : budget->parts) diagnosis.budget.push_back({part.name, part.value, part.critical});
  diagnosis.limiting = budget->subject;
  diagnosis.budget_reason = budget->reason;
}

struct Instruments {
  std::map<std::string, std::size_t> invalid;  // metric to the note about it
  std::optional<std::size_t> loss;             // index of the note that distrusts every count
  std::optional<std::size_t> too_short;        // index of the note that too little was recorded
};

Instruments check_instruments(Diagnosis& diagnosis, std::span<const MetricValue> values, const Context& context) {
  Instruments result;
  if (context.broken_off) {
    diagnosis.instrument.push_back(
        {"instrument-broken-off",
         Severity::warning,
         "the recording broke off (its recorder was killed or could not write): findings rest on what was committed, "
         "how much was lost is not known",
         {}});
  }
  if (!context.cut_off.empty())
    diagnosis.instrument.push_back({"instrument-cut-off", Severity::warning, context.cut_off, {}});
  if (!context.too_short.empty()) {
    diagnosis.instrument.push_back({"instrument-too-short", Severity::warning, context.too_short, {}});
    result.too_short = diagnosis.instrument.size() - 1;
    // Where the time of a few steps went says nothing about the next ones.
    diagnosis.limiting.clear();
    for (BudgetPart& part : diagnosis.budget) part.critical = false;
  }
  for (const MetricValue& value : values) {
    if (value.status != ValueStatus::invalid) continue;
    diagnosis.instrument.push_back({value.name == loss_metric ? "instrument-balance" : "instrument-ratio",
                                    Severity::error,
                                    fmt::format("{}: {}", value.name, value.reason),
                                    {}});
    result.invalid[value.name] = diagnosis.instrument.size() - 1;
    if (value.name == loss_metric) result.loss = diagnosis.instrument.size() - 1;
  }
  if (const MetricValue* lost = find(values, loss_metric); lost != nullptr && lost->ok() && *lost->value > 0) {
    const double all = *lost->value + static_cast<double>(lost->samples), share = *lost->value / all;
    const bool too_many = share > context.tolerated_loss;
    std::string causes;
    for (const Part& part : lost->parts)
      causes += fmt::format("{}{} {:.0f}", causes.empty() ? "" : ", ", part.name, part.value);
    diagnosis.instrument.push_back(
        {"instrument-loss",
         too_many ? Severity::error : Severity::info,
         fmt::format("{:.0f} of {:.0f} events were lost ({}); {}", *lost->value, all, causes,
                     too_many ? "counts and shares are not to be trusted: record again, more slowly or with less on"
                              : "too few to change a finding"),
         {}});
    if (too_many) result.loss = diagnosis.instrument.size() - 1;
  }
  std::map<std::pair<std::uint32_t, std::string>, std::string> first;
  std::set<std::string> turned;
  for (const Knob& knob : context.knobs) {
    const auto [known, is_new] = first.emplace(std::pair(knob.process, knob.name), knob.value);
    if (!is_new && known->second != knob.value) turned.insert(knob.name);
  }
  if (!turned.empty()) {
    diagnosis.instrument.push_back(
        {"instrument-settings",
         Severity::warning,
         fmt::format("{} changed during the recording: values mix the settings; use --by window",
                     fmt::join(turned, ", ")),
         {}});
  }
  return result;
}

// Notes the rule under every instrument error that its columns rest on; false when there is none.
bool withhold(Diagnosis& diagnosis, const Instruments& instruments, const Rule& rule,
              const std::vector<std::string>& columns, const Catalogue& catalogue) {
  std::set<std::size_t> notes;
  if (instruments.loss) notes.insert(*instruments.loss);
  if (instruments.too_short) notes.insert(*instruments.too_short);
  for (const std::string& column : columns) {
    const auto found = instruments.invalid.find(metric_of(column, catalogue));
    if (found != instruments.invalid.end()) notes.insert(found->second);
  }
  for (const std::size_t note : notes) diagnosis.instrument[note].withheld.push_back(rule.id);
  return !notes.empty();
}

// How far the row, which the sandbox holds, supports each fix.
Result<std::vector<Support>> support_of(const Rule& rule, Sandbox& sandbox,
                                        const std::map<std::string, double>& thresholds) {
  std::vector<Support> support;
  for (const Fix& fix : rule.fixes) {
    if (fix.when.empty()) {
      support.push_back(Support::shown);
      continue;
    }
    auto outcome = sandbox.evaluate(fix.when, thresholds);
    if (!outcome)
      return fail(outcome.error().kind,
                  fmt::format("{}: {}", rule.file.empty() ? rule.id : rule.file, outcome.error().message));
    support.push_back(!outcome->truth ? Support::unknown : *outcome->truth ? Support::shown : Support::not_shown);
  }
  return support;
}

Finding make_finding(const Rule& rule, const Verdict& verdict, const Catalogue& catalogue,
                     std::span<const MetricValue> values, const std::map<std::string, double>& thresholds,
                     std::span<const Support> support, const Context& context) {
  Finding finding;
  finding.rule = rule.id;
  finding.severity = rule.severity;
  finding.confidence = rule.confidence;
  finding.objective = rule.objective;
  finding.title = rule.title;
  finding.because = {fill(rule.because.en, values, thresholds), fill(rule.because.zh, values, thresholds)};
  finding.checks = rule.checks;
  std::vector<Fix> fixes = rule.fixes;
  for (Fix& fix : fixes) fix.when = with_thresholds(fix.when, thresholds);
  finding.fixes = suggest(fixes, context, support);
  for (const std::string& column : verdict.columns) {
    const MetricValue* value = find(values, metric_of(column, catalogue));
    const std::map<std::string, double> row =
        value == nullptr ? std::map<std::string, double>{} : row_of(std::span(value, 1));
    const auto number = row.find(column);
    if (number == row.end()) continue;
    finding.evidence.push_back(
        {column, number->second, value->unit, value->definition, value->window, value->subject, value->samples});
  }
  return finding;
}

Text why_cleared(const Rule& rule, const Verdict& verdict, const Catalogue& catalogue,
                 std::span<const MetricValue> values, const std::map<std::string, double>& thresholds) {
  Text deciding;
  for (const std::string& column : verdict.columns) {
    const Text one = stated(column, catalogue, values);
    deciding.en += (deciding.en.empty() ? "" : ", ") + one.en;
    deciding.zh += (deciding.zh.empty() ? "" : "，") + one.zh;
  }
  const std::string asked = with_thresholds(verdict.deciding, thresholds);
  return {fmt::format("{} ({}; the rule asks for {})", fill(rule.clears.en, values, thresholds), deciding.en, asked),
          fmt::format("{}（{}；规则要求 {}）", fill(rule.clears.zh, values, thresholds), deciding.zh, asked)};
}

std::string why_missing(const Verdict& verdict, const Catalogue& catalogue, std::span<const MetricValue> values) {
  std::string why;
  std::set<std::string> told;
  for (const std::string& column : verdict.missing) {
    const std::string metric = metric_of(column, catalogue);
    if (!told.insert(metric).second) continue;
    const MetricValue* value = find(values, metric);
    why += fmt::format("{}{} is {}: {}", why.empty() ? "" : "; ", metric,
                       value == nullptr ? "unavailable" : to_text(value->status),
                       value == nullptr ? "not evaluated" : value->reason);
  }
  return why;
}

}  // namespace

Result<std::vector<std::string>> metrics_needed(std::span<const Rule> rules, const Catalogue& catalogue) {
  std::set<std::string> needed;
  for (const char* name : {budget_metric, loss_metric}) {
    if (catalogue.find(name) != nullptr) needed.insert(name);
  }
  const std::vector<std::string> columns = columns_of(catalogue);
  auto sandbox = Sandbox::open(columns);
  if (!sandbox) return tl::unexpected(sandbox.error());
  for (const Rule& rule : rules) {
    for (const std::string& condition : expressions_of(rule)) {
      auto outcome = sandbox->evaluate(condition, rule.thresholds);
      if (!outcome)
        return fail(outcome.error().kind,
                    fmt::format("{}: {}", rule.file.empty() ? rule.id : rule.file, outcome.error().message));
      for (const std::string& column : outcome->columns) needed.insert(metric_of(column, catalogue));
    }
    // Metrics that only the text mentions.
    for (const std::string* text : {&rule.because.en, &rule.because.zh, &rule.clears.en, &rule.clears.zh}) {
      for (std::size_t open = text->find('{'); open != std::string::npos; open = text->find('{', open + 1)) {
        const std::string name = text->substr(open + 1, text->find_first_of("}.", open) - open - 1);
        if (const std::string metric = metric_of(name, catalogue); !metric.empty()) needed.insert(metric);
      }
    }
  }
  return std::vector<std::string>(needed.begin(), needed.end());
}

Result<Diagnosis> diagnose(std::span<const Rule> rules, const Catalogue& catalogue, std::span<const MetricValue> values,
                           const Context& context) {
  Diagnosis diagnosis;
  take_budget(diagnosis, values);
  const Instruments instruments = check_instruments(diagnosis, values, context);
  const std::vector<std::string> columns = columns_of(catalogue);
  auto sandbox = Sandbox::open(columns);
  if (!sandbox) return tl::unexpected(sandbox.error());
  const std::map<std::string, double> row = row_of(values);
  for (const Rule& rule : rules) {
    const std::map<std::string, double> thresholds = thresholds_of(rule, context.thresholds);
    auto verdict = judge(rule, *sandbox, row, thresholds);
    if (!verdict) return tl::unexpected(verdict.error());
    switch (verdict->kind) {
      case Verdict::Kind::not_evaluated:
        withhold(diagnosis, instruments, rule, verdict->missing, catalogue);
        diagnosis.not_evaluated.push_back({rule.id, why_missing(*verdict, catalogue, values)});
        break;
      case Verdict::Kind::quiet: {
        if (instruments.loss || instruments.too_short) {
          diagnosis.not_evaluated.push_back({rule.id, instruments.loss ? "too many events were lost to clear it"
                                                                       : "the recording is too short to clear it"});
          break;
        }
        diagnosis.cleared.push_back({rule.id, rule.title, why_cleared(rule, *verdict, catalogue, values, thresholds)});
        break;
      }
      case Verdict::Kind::fires: {
        if (withhold(diagnosis, instruments, rule, verdict->columns, catalogue)) break;
        auto support = support_of(rule, *sandbox, thresholds);
        if (!support) return tl::unexpected(support.error());
        diagnosis.findings.push_back(make_finding(rule, *verdict, catalogue, values, thresholds, *support, context));
        break;
      }
    }
  }
  std::stable_sort(diagnosis.findings.begin(), diagnosis.findings.end(), [](const Finding& a, const Finding& b) {
    return a.severity != b.severity ? a.severity > b.severity : a.rule < b.rule;
  });
  return diagnosis;
}

}  // namespace dmprof::rules
