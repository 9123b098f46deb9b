#include "dmprof/report/diagnosis_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "dmprof/report/metric_json.h"

namespace dmprof::report {

namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json gain_json(const rules::Gain& gain) {
  return {{"low", number(gain.low)}, {"mid", number(gain.mid)}, {"high", number(gain.high)}};
}

Json measured_json(const rules::Measured& measured) {
  const auto throughput = measured.ratios.find("throughput");
  Json object = throughput == measured.ratios.end() ? Json{{"low", nullptr}, {"mid", nullptr}, {"high", nullptr}}
                                                    : gain_json(throughput->second);
  object["verdict"] = measured.verdict;
  object["objective"] = measured.objective;
  object["pairs"] = measured.pairs;
  object["exact"] = measured.exact;
  object["ratios"] = Json::object();
  for (const auto& [metric, ratio] : measured.ratios) object["ratios"][metric] = gain_json(ratio);
  return object;
}

Json fix_json(const rules::SuggestedFix& fix) {
  Json object;
  object["knob"] = fix.knob;
  object["from"] = fix.from ? Json(*fix.from) : Json(nullptr);
  object["to"] = fix.to;
  object["note"] = fix.note.en;
  object["note_zh"] = fix.note.zh;
  object["trial"] = fix.trial;
  object["command"] = Json::object();
  for (const auto& [engine, command] : fix.command) object["command"][engine] = command;
  object["recorded_engine"] = fix.recorded_engine;
  object["predicted_gain"] = nullptr;
  if (fix.predicted_gain) {
    object["predicted_gain"] = gain_json(*fix.predicted_gain);
    object["predicted_gain"]["metric"] = fix.predicted_gain->metric;
  }
  object["predicted_cost"] = nullptr;
  if (fix.predicted_cost) {
    object["predicted_cost"] = gain_json(*fix.predicted_cost);
    object["predicted_cost"]["metric"] = fix.predicted_cost->metric;
  }
  object["gain_reason"] = fix.gain_reason;
  object["measured_gain"] = fix.measured ? measured_json(*fix.measured) : Json(nullptr);
  return object;
}

Json to_json(const rules::Finding& finding) {
  Json object;
  object["rule"] = finding.rule;
  object["severity"] = rules::to_text(finding.severity);
  object["confidence"] = finding.confidence;
  object["objective"] = finding.objective;
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

// Fields of stored JSON: a file is not trusted, so that a field of another type counts as absent.
const nlohmann::json* field(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string text_field(const nlohmann::json& object, const char* key) {
  const nlohmann::json* found = field(object, key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<rules::Gain> parse_gain(const nlohmann::json& object) {
  const nlohmann::json *low = field(object, "low"), *mid = field(object, "mid"), *high = field(object, "high");
  for (const nlohmann::json* one : {low, mid, high}) {
    if (one == nullptr || !one->is_number()) return std::nullopt;
  }
  return rules::Gain{low->get<double>(), mid->get<double>(), high->get<double>()};
}

std::optional<rules::Measured> parse_measured(const nlohmann::json& fix) {
  const nlohmann::json* gain = field(fix, "measured_gain");
  if (gain == nullptr) return std::nullopt;
  const nlohmann::json *pairs = field(*gain, "pairs"), *exact = field(*gain, "exact"), *ratios = field(*gain, "ratios");
  rules::Measured measured{text_field(*gain, "verdict"), text_field(*gain, "objective"), 0, false, {}};
  if (measured.verdict.empty() || pairs == nullptr || !pairs->is_number_unsigned() || exact == nullptr ||
      !exact->is_boolean() || ratios == nullptr || !ratios->is_object())
    return std::nullopt;
  measured.pairs = pairs->get<std::uint64_t>();
  measured.exact = exact->get<bool>();
  for (const auto& [metric, ratio] : ratios->items()) {
    const auto parsed = parse_gain(ratio);
    if (!parsed) return std::nullopt;
    measured.ratios[metric] = *parsed;
  }
  return measured;
}

}  // namespace

std::string finding_json(const rules::Finding& finding) { return dump(to_json(finding), -1); }

void add_measured(std::string_view json, rules::Finding& finding) {
  const nlohmann::json stored = nlohmann::json::parse(json, nullptr, false);
  const nlohmann::json* fixes = field(stored, "fixes");
  if (text_field(stored, "rule") != finding.rule || fixes == nullptr || !fixes->is_array()) return;
  for (const nlohmann::json& fix : *fixes) {
    const auto measured = parse_measured(fix);
    if (!measured) continue;
    for (rules::SuggestedFix& own : finding.fixes) {
      if (own.knob == text_field(fix, "knob") && own.to == text_field(fix, "to")) own.measured = *measured;
    }
  }
}

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
