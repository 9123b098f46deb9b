// From a recording to its diagnosis: the metrics the rules need, then the rules.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyzers/registry/metric.h"
#include "dmprof/base/error.h"
#include "rules/engine/diagnose.h"

namespace dmprof::cli {

Result<rules::Diagnosis> diagnose_recording(const std::filesystem::path& recording,
                                            const std::vector<rules::Rule>& playbook, const Objectives& slo);

// Diagnoses with the built-in playbook and stores the findings in the finished recording.
Status store_findings(const std::filesystem::path& recording);

}  // namespace dmprof::cli
