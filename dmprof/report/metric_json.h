// A metric value as the JSON of `dmprof --metric … --json`, which is also how it is stored in a recording
// (docs/cli.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analyzers/registry/metric.h"

namespace dmprof::report {

// One line, as it is stored.
std::string metric_json(const MetricValue& value);

// {"run":…,"metrics":[…]}; `note` says what was left out of the recording and has no key when empty.
std::string metrics_json(std::string_view run, std::span<const MetricValue> values, std::string_view note);

// The inverse of metric_json(). Nothing for text that is no metric of that name: recordings come from elsewhere.
std::optional<MetricValue> parse_metric(std::string_view json, std::string_view name);

// {"metrics":[…]} of the whole catalogue.
std::string catalogue_json(std::span<const Metric> metrics);

// Valid JSON whatever the strings hold: bytes that are no UTF-8 become U+FFFD. `indent` < 0: one line.
std::string dump(const nlohmann::ordered_json& json, int indent = 2);

}  // namespace dmprof::report
