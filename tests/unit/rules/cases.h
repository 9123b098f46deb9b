// From a report's words to a recording and metrics, and from those to a diagnosis.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzers/registry/metric.h"
#include "rules/engine/diagnose.h"

namespace YAML {
class Node;
}

namespace dmprof::rules::cases {

inline constexpr const char* reading_metric = "kv_cache_usage";  // what a bare reading is taken for

struct Entry {  // of a series
  std::map<std::string, double> number;
};

struct Given {
  std::map<std::string, double> number;  // by the key table's word
  std::map<std::string, std::string> text;
  std::map<std::string, std::vector<double>> list;
  std::map<std::string, double> budget;  // parts of time_budget
  std::vector<Entry> series;
  std::vector<std::string> unknown_words;
  bool for_the_gate = false;  // about comparing runs
};
Given read(const YAML::Node& given);

struct Answer {
  std::vector<MetricValue> values;
  Diagnosis diagnosis;
  std::set<std::string> fired;                // rules with a finding or an instrument note
  std::string text;                           // everything that is said, in English
  std::optional<double> predicted, measured;  // tokens/s
};
// One answer; several where a list asks the same question several times.
std::vector<Answer> evaluate(const Given& given);

const std::vector<Rule>& playbook();

}  // namespace dmprof::rules::cases
