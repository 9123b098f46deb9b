// The answer to `dmprof --metric NAME[,NAME…]`.
#pragma once

#include <filesystem>

#include "dmprof/base/error.h"
#include "dmprof/base/exit_status.h"
#include "dmprof/cli/commands.h"

namespace dmprof::cli {

// Checks names and --by and --slo without a recording, so that a typo is found before anything is started.
Status check_question(const MetricQuestion& question);

// From a recording that is there.
Result<ExitStatus> answer_from(const std::filesystem::path& recording, const MetricQuestion& question, bool json);

// From --run, the newest recording, or (--live, or no recording and exactly one engine) from a few seconds of a running
// engine.
Result<ExitStatus> answer_question(const Shared& shared);

}  // namespace dmprof::cli
