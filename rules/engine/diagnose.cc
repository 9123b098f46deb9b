#include "rules/engine/diagnose.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "rules/engine/fixes.h"
#include "rules/engine/instruments.h"
#include "rules/engine/row.h"
#include "rules/engine/text.h"

namespace dmprof::rules {
namespace {

constexpr const char* budget_metric = "time_budget";
constexpr const char* loss_metric = "events_lost";  // what the instrument checks need

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

// What the rule's details add, in their order: those of this kind whose condition is true on the row that the sandbox
// holds.
Result<Text> details_of(const Rule& rule, Detail::On on, Sandbox& sandbox, std::span<const MetricValue> values,
                        const std::map<std::string, double>& thresholds) {
  Text added;
  for (const Detail& detail : rule.details) {
    if (detail.on != on) continue;
    auto outcome = sandbox.evaluate(detail.when, thresholds);
    if (!outcome)
      return fail(outcome.error().kind, fmt::format("{}: {}", rule.where(detail.when), outcome.error().message));
    if (outcome->truth != true) continue;
    added.en += ' ' + fill(detail.text.en, values, thresholds);
    added.zh += fill(detail.text.in(Language::zh), values, thresholds);
  }
  return added;
}

Text because_of(const Rule& rule, const Text& details, std::span<const MetricValue> values,
                const std::map<std::string, double>& thresholds) {
  Text said = {fill(rule.because.en, values, thresholds) + details.en, ""};
  if (!rule.because.zh.empty()) said.zh = fill(rule.because.zh, values, thresholds) + details.zh;
  return said;
}

// The rule's fixes with what was measured filled in. Those that need a value nobody measured are left out.
void fill_fixes(std::vector<Fix>& fixes, std::vector<Support>& support, std::span<const MetricValue> values,
                const std::map<std::string, double>& thresholds) {
  std::vector<Fix> kept;
  std::vector<Support> kept_support;
  for (std::size_t i = 0; i < fixes.size(); ++i) {
    Fix& fix = fixes[i];
    const std::optional<std::string> to = fill_plain(fix.to, values);
    if (!to) continue;
    fix.to = *to;
    fix.when = with_thresholds(fix.when, thresholds);
    for (auto& [engine, command] : fix.command) {
      for (std::size_t at = command.find("{to}"); at != std::string::npos; at = command.find("{to}", at))
        command.replace(at, 4, fix.to), at += fix.to.size();
    }
    kept.push_back(std::move(fix)), kept_support.push_back(support[i]);
  }
  fixes = std::move(kept), support = std::move(kept_support);
}

// One proposal a knob is enough where the recording supports one of them.
void drop_doubles(std::vector<SuggestedFix>& fixes) {
  std::vector<SuggestedFix> kept;
  for (SuggestedFix& fix : fixes) {
    const auto covers = [&](const SuggestedFix& other) {
      return other.knob == fix.knob && (other.to == fix.to || (fix.trial && !other.trial));
    };
    if (std::none_of(kept.begin(), kept.end(), covers)) kept.push_back(std::move(fix));
  }
  fixes = std::move(kept);
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
      return fail(outcome.error().kind, fmt::format("{}: {}", rule.where(fix.when), outcome.error().message));
    support.push_back(!outcome->truth ? Support::unknown : *outcome->truth ? Support::shown : Support::not_shown);
  }
  return support;
}

Finding make_finding(const Rule& rule, const Verdict& verdict, const Catalogue& catalogue,
                     std::span<const MetricValue> values, const std::map<std::string, double>& thresholds,
                     const Text& details, std::vector<Support> support, const Context& context) {
  Finding finding;
  finding.rule = rule.id;
  finding.severity = rule.severity;
  finding.confidence = rule.confidence;
  finding.objective = rule.objective;
  finding.title = rule.title;
  finding.because = because_of(rule, details, values, thresholds);
  finding.checks = rule.checks;
  std::vector<Fix> fixes = rule.fixes;
  fill_fixes(fixes, support, values, thresholds);
  finding.fixes = suggest(fixes, context, support);
  drop_doubles(finding.fixes);
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

Text why_cleared(const Rule& rule, const Verdict& verdict, const Text& details, const Catalogue& catalogue,
                 std::span<const MetricValue> values, const std::map<std::string, double>& thresholds) {
  Text deciding;
  for (const std::string& column : verdict.columns) {
    const Text one = stated(column, catalogue, values);
    deciding.en += (deciding.en.empty() ? "" : ", ") + one.en;
    deciding.zh += (deciding.zh.empty() ? "" : "，") + one.zh;
  }
  const std::string asked = with_thresholds(verdict.deciding, thresholds);
  const auto sentence = [](const std::string& text, const char* stop) { return text.empty() ? text : stop + text; };
  return {fmt::format("{} ({}; the rule asks for {}){}", fill(rule.clears.en, values, thresholds), deciding.en, asked,
                      sentence(details.en, ".")),
          fmt::format("{}（{}；规则要求 {}）{}", fill(rule.clears.zh, values, thresholds), deciding.zh, asked,
                      sentence(details.zh, "。"))};
}

std::string why_missing(const Verdict& verdict, const Catalogue& catalogue, std::span<const MetricValue> values,
                        const std::map<std::string, double>& thresholds) {
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
  for (const std::string& condition : verdict.undefined)
    why += fmt::format("{}the condition {} has no value with these figures, as x / 0 has none", why.empty() ? "" : "; ",
                       with_thresholds(condition, thresholds));
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
      if (!outcome) continue;  // diagnose() says so
      for (const std::string& column : outcome->columns) needed.insert(metric_of(column, catalogue));
    }
    // Metrics that only the text mentions.
    std::vector<const std::string*> texts = {&rule.because.en, &rule.because.zh, &rule.clears.en, &rule.clears.zh};
    for (const Detail& detail : rule.details) texts.push_back(&detail.text.en), texts.push_back(&detail.text.zh);
    for (const Fix& fix : rule.fixes) texts.push_back(&fix.to);
    for (const std::string* text : texts) {
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
  Instruments instruments = check_instruments(diagnosis, values, context);
  const std::vector<std::string> columns = columns_of(catalogue);
  auto sandbox = Sandbox::open(columns);
  if (!sandbox) return tl::unexpected(sandbox.error());
  const std::map<std::string, double> row = row_of(values);
  const auto apply = [&](const Rule& rule) -> Status {
    const std::map<std::string, double> thresholds = thresholds_of(rule, context.thresholds);
    auto verdict = judge(rule, *sandbox, row, thresholds);
    if (!verdict) return tl::unexpected(verdict.error());
    if (verdict->kind == Verdict::Kind::not_evaluated) {
      withhold(diagnosis, instruments, rule, verdict->missing, catalogue);
      diagnosis.not_evaluated.push_back({rule.id, why_missing(*verdict, catalogue, values, thresholds)});
      return {};
    }
    const bool fires = verdict->kind == Verdict::Kind::fires;
    auto details = details_of(rule, fires ? Detail::On::fires : Detail::On::quiet, *sandbox, values, thresholds);
    if (!details) return tl::unexpected(details.error());
    if (!fires) {
      // That a recording can be believed says nothing about the engine, unless the rule has something to say.
      if (rule.distrusts && details->en.empty()) return {};
      const std::string doubt = why_not_cleared(diagnosis, instruments, verdict->columns, catalogue);
      if (!doubt.empty()) {
        diagnosis.not_evaluated.push_back({rule.id, doubt});
      } else {
        diagnosis.cleared.push_back(
            {rule.id, rule.severity, rule.title, why_cleared(rule, *verdict, *details, catalogue, values, thresholds)});
      }
      return {};
    }
    if (rule.distrusts) {
      distrust(diagnosis, instruments, rule, because_of(rule, *details, values, thresholds), verdict->columns,
               catalogue, values);
      return {};
    }
    if (withhold(diagnosis, instruments, rule, verdict->columns, catalogue)) return {};
    auto support = support_of(rule, *sandbox, thresholds);
    if (!support) return tl::unexpected(support.error());
    diagnosis.findings.push_back(
        make_finding(rule, *verdict, catalogue, values, thresholds, *details, std::move(*support), context));
    return {};
  };
  // Instrument rules first: the others rest on what they leave.
  for (const bool instrument : {true, false}) {
    for (const Rule& rule : rules) {
      if (rule.distrusts.has_value() != instrument) continue;
      if (const Status applied = apply(rule); !applied) diagnosis.refused.push_back({rule.id, applied.error().message});
    }
  }
  std::stable_sort(diagnosis.findings.begin(), diagnosis.findings.end(), [](const Finding& a, const Finding& b) {
    return a.severity != b.severity ? a.severity > b.severity : a.rule < b.rule;
  });
  return diagnosis;
}

}  // namespace dmprof::rules
