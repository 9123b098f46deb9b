// Advice as people and scripts read it.
#pragma once

#include <string>

#include "dmprof/cli/advice.h"
#include "dmprof/report/style.h"

namespace dmprof::cli {

std::string advice_text(const Advice& advice, const report::Style& style);
std::string advice_json(const Advice& advice);  // docs/cli.md has the keys

}  // namespace dmprof::cli
