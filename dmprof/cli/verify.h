// Tries the fixes of a diagnosis: the recorded command with and without each, in turns.
#pragma once

#include <filesystem>

#include "dmprof/base/error.h"
#include "rules/engine/diagnose.h"

namespace dmprof::cli {

struct VerifyOptions {
  bool all = false;  // every fix that can be typed; else the first
  bool yes = false;  // do not ask
};

// Fills `measured` of the fixes that were tried and stores the findings with it in the recording. Errors: usage when
// the user does not agree, cannot_answer when no fix can be run, else what the runs say.
Status verify_fixes(const std::filesystem::path& recording, rules::Diagnosis& diagnosis, const VerifyOptions& options);

// Puts what earlier re-runs showed beside the fixes of a diagnosis of the same recording.
Status recall_measured(const std::filesystem::path& recording, rules::Diagnosis& diagnosis);

}  // namespace dmprof::cli
