// From argv to the one action that was asked for, with errors a person can act on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/cli/commands.h"

namespace dmprof::cli {

// Parses `words` (without the program's name). Help and version texts are actions too: they print to standard output.
// Errors are of kind usage and name the nearest command or flag.
Result<Action> parse_arguments(const std::vector<std::string>& words);

}  // namespace dmprof::cli
