// A diagnosis as the JSON of `dmprof diagnose --json` (docs/cli.md).
#pragma once

#include <string>
#include <string_view>

#include "rules/engine/diagnose.h"

namespace dmprof::report {

std::string diagnosis_json(std::string_view run, const rules::Diagnosis& diagnosis);

// One finding, as it is stored in the recording.
std::string finding_json(const rules::Finding& finding);

}  // namespace dmprof::report
