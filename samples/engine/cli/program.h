// The program `dm-engine` around the engine: input, output, signals, exit statuses.
#pragma once

#include <span>
#include <string>

#include "samples/engine/cli/command_line.h"

namespace dmengine {

// args: what follows the program's name. Generated text (or one JSON object) goes to standard output, everything else
// to standard error. Returns the exit status: 0 done, 2 usage, 4 bad input, 6 environment, 130 or 143 after SIGINT or
// SIGTERM (the step in progress is finished and what was generated is printed).
int run_program(std::span<const std::string> args, const Environment& environment);

}  // namespace dmengine
