// Words of the command line that stand for values: durations, objectives, breakdowns, lists.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/registry/catalogue.h"
#include "analyzers/registry/metric.h"
#include "dmprof/base/error.h"

namespace dmprof::cli {

// "200ms", "1.5s", "800us", "20ns": a positive number with its unit.
Result<TimeNs> parse_duration(std::string_view text);

// "ttft=200ms,itl=50ms" with any of ttft, itl, tpot, e2e, each once.
Result<Objectives> parse_objectives(std::string_view text);

// "" is no breakdown.
Result<std::optional<By>> parse_breakdown(const std::string& text);

// Splits at commas and drops blanks; "--metric a,b --metric c" arrives as two texts. Error: an empty name.
Result<std::vector<std::string>> split_names(const std::vector<std::string>& texts);

}  // namespace dmprof::cli
