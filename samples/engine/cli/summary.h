// The run as one JSON object (`--json`); the keys are a contract and described in the README beside this file.
#pragma once

#include <string>
#include <vector>

#include "samples/engine/cli/command_line.h"
#include "samples/engine/runtime/engine.h"
#include "samples/engine/scheduler/request.h"

namespace dmengine {

// Ends with a newline. Bytes of a text that are not UTF-8 come out as U+FFFD. Counts and stage times are the
// recorder's.
std::string summarize(const CommandLine& line, const std::vector<Request>& requests, const RunReport& report,
                      const Recorder& recorder);

}  // namespace dmengine
