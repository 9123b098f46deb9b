// The whole catalogue, and measured values of its metrics as an evaluation gives them.
#pragma once

#include <string>

#include "analyzers/all/register_all.h"
#include "analyzers/registry/statistics.h"

namespace dmprof::rules {

inline const Catalogue& catalogue() {
  static const Catalogue all = full_catalogue();
  return all;
}

inline MetricValue value(const std::string& name, double number) {
  const Metric& metric = *catalogue().find(name);
  MetricValue result = scalar(number, 100);
  result.name = name, result.unit = metric.unit, result.kind = metric.kind, result.definition = metric.definition;
  return result;
}

}  // namespace dmprof::rules
