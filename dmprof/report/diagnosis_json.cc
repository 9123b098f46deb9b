#include "dmprof/report/diagnosis_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "dmprof/report/metric_json.h"

namespace dmprof::report {

namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json fix_json(const rules::SuggestedFix& fix) {
  Json object;
  object["knob"] = fix.knob;
  object["from"] = fix.from ? Json(*fix.from) : Json(nullptr);
  object["to"] = fix.to;
  object["note"] = fix.note;
  object["trial"] = fix.trial;
  object["command"] = Json::object();
  for (const auto& [engine, command] : fix.command) object["command"][engine] = command;
  object["recorded_engine"] = fix.recorded_engine;
  object["predicted_gain"] = nullptr;
  if (fix.predicted_gain) {
    object["predicted_gain"] = {{"low", number(fix.predicted_gain->low)},
                                {"mid", number(fix.predicted_gain->mid)},
                                {"high", number(fix.predicted_gain->high)}};
  }
  object["measured_gain"] = fix.measured_gain ? number(*fix.measured_gain) : Json(nullptr);
  return object;
}

Json to_json(const rules::Finding& finding) {
  Json object;
  object["rule"] = finding.rule;
  object["severity"] = rules::to_text(finding.severity);
  object["confidence"] = finding.confidence;
  object["title"] = finding.title.en;
  object["title_zh"] = finding.title.zh;
  object["evidence"] = Json::object();
  for (const rules::Evidence& one : finding.evidence) {
    object["evidence"][one.metric] = {{"value", number(one.value)},   {"unit", one.unit},     {"samples", one.samples},
                                      {"definition", one.definition}, {"window", one.window}, {"subject", one.subject}};
  }
  object["because"] = finding.because.en;
  object["because_zh"] = finding.because.zh;
  object["checks"] = finding.checks;
  object["fixes"] = Json::array();
  for (const rules::SuggestedFix& fix : finding.fixes) object["fixes"].push_back(fix_json(fix));
  return object;
}

}  // namespace

std::string finding_json(const rules::Finding& finding) { return dump(to_json(finding), -1); }

std::string diagnosis_json(std::string_view run, const rules::Diagnosis& diagnosis) {
  Json object;
  object["run"] = run;
  object["budget"] = Json::array();
  for (const rules::BudgetPart& part : diagnosis.budget) {
    object["budget"].push_back({{"part", part.part}, {"share", number(part.share)}, {"critical", part.critical}});
  }
  if (diagnosis.budget.empty()) object["budget_reason"] = diagnosis.budget_reason;
  object["limiting"] = diagnosis.limiting;
  object["findings"] = Json::array();
  for (const rules::Finding& finding : diagnosis.findings) object["findings"].push_back(to_json(finding));
  object["instrument"] = Json::array();
  for (const rules::InstrumentNote& note : diagnosis.instrument) {
    object["instrument"].push_back({{"check", note.check},
                                    {"severity", rules::to_text(note.severity)},
                                    {"message", note.message.en},
                                    {"message_zh", note.message.zh},
                                    {"withheld", note.withheld}});
  }
  object["cleared"] = Json::array();
  for (const rules::Cleared& cleared : diagnosis.cleared) {
    object["cleared"].push_back({{"rule", cleared.rule},
                                 {"title", cleared.title.en},
                                 {"title_zh", cleared.title.zh},
                                 {"because", cleared.because.en},
                                 {"because_zh", cleared.because.zh}});
  }
  object["not_evaluated"] = Json::array();
  for (const rules::NotEvaluated& rule : diagnosis.not_evaluated) {
    object["not_evaluated"].push_back({{"rule", rule.rule}, {"because", rule.because}});
  }
  object["refused"] = Json::array();
  for (const rules::RefusedRule& rule : diagnosis.refused) {
    object["refused"].push_back({{"rule", rule.rule}, {"because", rule.because}});
  }
  return dump(object) + "\n";
}

}  // namespace dmprof::report
