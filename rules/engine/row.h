// The metric row that conditions read: one column a metric, `<metric>_p50` .. `_p99`, `_max` for distributions, and
// `<metric>_<part>` for shares whose parts are known by name.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "analyzers/registry/catalogue.h"
#include "dmprof/base/error.h"
#include "rules/engine/condition.h"
#include "rules/engine/rule.h"

namespace dmprof::rules {

std::vector<std::string> columns_of(const Catalogue& catalogue);
// The metric a column belongs to; "" for a foreign one.
std::string metric_of(const std::string& column, const Catalogue& catalogue);
// Values that are ok; the rest stays NULL.
std::map<std::string, double> row_of(std::span<const MetricValue> values);

struct Verdict {
  enum class Kind { fires, quiet, not_evaluated } kind = Kind::quiet;
  std::string deciding;                // quiet: the first condition that is false
  std::vector<std::string> columns;    // of the deciding condition, else of all of them
  std::vector<std::string> missing;    // not_evaluated: columns without a value that mattered
  std::vector<std::string> undefined;  // not_evaluated: conditions without a value though all their columns have one
};
// Thresholds are the rule's, with overrides laid over them.
Result<Verdict> judge(const Rule& rule, Sandbox& sandbox, const std::map<std::string, double>& row,
                      const std::map<std::string, double>& thresholds);

// The rule's thresholds with "rule-id.name" overrides applied.
std::map<std::string, double> thresholds_of(const Rule& rule, const std::map<std::string, double>& overrides);

}  // namespace dmprof::rules
