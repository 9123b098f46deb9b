// Values in words: "31.2 %", "4.1 ms", "2.9 tokens/step"; and texts with values in them.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "analyzers/registry/metric.h"

namespace dmprof::rules {

std::string in_words(double value, const std::string& unit);

// Replaces {metric}, {metric_p99}, {metric.subject} and {:threshold}. What has no value becomes "unavailable"; an
// unknown name stays as it is.
std::string fill(const std::string& text, std::span<const MetricValue> values,
                 const std::map<std::string, double>& thresholds);

// Replaces {metric} by its plain number ("3", "0.42"), for commands and settings; nothing when one has no value.
std::optional<std::string> fill_plain(const std::string& text, std::span<const MetricValue> values);

}  // namespace dmprof::rules
