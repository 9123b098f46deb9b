// A rule of the playbook as data: what it looks at, what it says, how to try its fixes. One YAML file each
// (rules/README.md).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dmprof/base/error.h"

namespace dmprof::rules {

enum class Severity { info, warning, error };
std::string_view to_text(Severity);
std::optional<Severity> parse_severity(std::string_view);

enum class Language { en, zh };
std::optional<Language> parse_language(std::string_view);

struct Text {  // by language; `en` is always there
  std::string en, zh;

  const std::string& in(Language language) const { return language == Language::zh && !zh.empty() ? zh : en; }
};

struct Fix {
  std::string knob;  // name as engines register it
  enum class Change {
    set,
    raise,
    lower
  } change = Change::set;  // raise/lower: only when the current value is below/above `to`
  std::string to;
  std::string
      path_to;       // in words, for an engine whose knob holds a path: no value can be typed for it; "" = no such fix
  std::string when;  // SQL: what of the recording supports it; unless true the fix is a proposal for trial. "" = always
  std::string note;
  std::map<std::string, std::string> command;  // by engine: c8, dm-engine, vllm, sglang, llama.cpp, tensorrt-llm
};

struct Vector {
  enum class Kind { fires, boundary, must_not_fire, metric_missing } kind = Kind::fires;
  std::string title;
  std::map<std::string, double> metrics;  // what is not named is unavailable
  enum class Expect { fires, quiet, not_evaluated } expect = Expect::fires;
};

struct Rule {
  std::string id;
  Text title;
  Severity severity = Severity::warning;
  std::string confidence;                    // "high", "medium", "low"
  std::string source;                        // where the rule comes from: "D", "P", "C", "I" or "H" with a citation
  std::string objective = "throughput";      // what its fixes are to improve: "throughput" or "latency" (tpot)
  std::map<std::string, double> thresholds;  // used in conditions as :name; a profile may override them
  std::vector<std::string> all;              // SQL expressions over the metric row; the rule fires when all are true
  Text because;                              // {metric} is replaced by its value
  Text clears;                               // what a quiet rule says: why this is not the problem
  std::vector<std::string> checks;
  std::vector<Fix> fixes;
  std::vector<Vector> vectors;
  std::string file;
};

// Every SQL expression of the rule: its conditions, then what its fixes ask.
std::vector<std::string> expressions_of(const Rule& rule);

// Errors name the file and line. A rule that is returned is complete, but not yet linted (lint.h).
Result<Rule> parse_rule(std::string_view yaml, std::string_view file);
Result<Rule> load_rule(const std::string& path);
// Every *.yaml of a folder, by file name. An empty folder is an error: a playbook without rules finds nothing wrong.
Result<std::vector<Rule>> load_rules(const std::string& folder);

}  // namespace dmprof::rules
