// A what-if prediction, for people and as the JSON of `dmprof whatif --json` (docs/cli.md).
#pragma once

#include <string>
#include <string_view>

#include "analyzers/whatif/whatif.h"
#include "dmprof/report/style.h"

namespace dmprof::report {

std::string prediction_text(const whatif::Prediction& prediction, const Style& style);
std::string prediction_json(std::string_view run, const whatif::Prediction& prediction, std::string_view note);

}  // namespace dmprof::report
