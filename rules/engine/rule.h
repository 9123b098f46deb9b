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

// What is said of a fix, then its note where it has one.
Text with_note(const Text& said, const Text& note);

struct Fix {
  std::string knob;  // name as engines register it
  enum class Change {
    set,
    raise,
    lower
  } change = Change::set;  // raise/lower: only when the current value is below/above `to`
  std::string to;          // may hold {metric}: the value as measured; the fix is not offered where there is none
  std::string
      path_to;       // in words, for an engine whose knob holds a path: no value can be typed for it; "" = no such fix
  std::string when;  // SQL: what of the recording supports it; unless true the fix is a proposal for trial. "" = always
  Text note;         // "" = none
  // By engine: c8, dm-engine, vllm, sglang, llama.cpp, tensorrt-llm. {to} is replaced.
  std::map<std::string, std::string> command;
};

// A sentence that is added to what a finding (fires) or a cleared rule (quiet) says, where the recording shows it.
struct Detail {
  enum class On { fires, quiet } on = On::fires;
  std::string when;  // SQL
  Text text;
};

// Where something stands in the rule's file, both from 1.
struct Place {
  int line = 1, column = 1;
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
  std::vector<Detail> details;
  // An instrument rule: judged before the others; where it fires, findings that rest on these metrics, or on a metric
  // that a part of what it read is named after, are withheld. Empty list: it warns only. Nothing: no instrument rule.
  std::optional<std::vector<std::string>> distrusts;
  std::vector<std::string> checks;
  std::vector<Fix> fixes;
  std::vector<Vector> vectors;
  std::string file;
  std::map<std::string, Place> places;  // of every expression

  // "file:line:column" of an expression, as far as known.
  std::string where(const std::string& expression) const;
};

// Every SQL expression of the rule: its conditions, then what its fixes and details ask.
std::vector<std::string> expressions_of(const Rule& rule);

// Errors name the file and line. A rule that is returned is complete, but not yet linted (lint.h).
Result<Rule> parse_rule(std::string_view yaml, std::string_view file);
Result<Rule> load_rule(const std::string& path);
struct RuleFolder {
  std::vector<Rule> rules;
  std::vector<Error> refused;  // files that hold no rule: the others are there all the same
};
// Every *.yaml of a folder, by file name. An empty folder is an error: a playbook without rules finds nothing wrong.
Result<RuleFolder> load_rules(const std::string& folder);

}  // namespace dmprof::rules
