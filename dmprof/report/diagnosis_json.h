// A diagnosis as the JSON of `dmprof diagnose --json` (docs/cli.md).
#pragma once

#include <string>
#include <string_view>

#include "rules/engine/diagnose.h"

namespace dmprof::report {

std::string diagnosis_json(std::string_view run, const rules::Diagnosis& diagnosis);

// One finding, as it is stored in the recording.
std::string finding_json(const rules::Finding& finding);

// Puts what re-runs showed, as stored with an earlier finding of the same rule, beside the same fixes. A damaged text
// adds nothing.
void add_measured(std::string_view stored_json, rules::Finding& finding);

}  // namespace dmprof::report
