// Metric values and the catalogue as text for people.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analyzers/registry/metric.h"
#include "dmprof/report/style.h"

namespace dmprof::report {

// A table of the values, then for each its definition, percentiles, parts and breakdown. `definitions` = false: the
// table only.
std::string metrics_text(std::span<const MetricValue> values, bool definitions, const Style& style);

// One line: "82.4 %", "P50 1.2 ms · P99 4.5 ms", "unavailable: …".
std::string value_text(const MetricValue& value);

std::string catalogue_text(std::span<const Metric> metrics, const Style& style);

}  // namespace dmprof::report
