// What the user typed, checked. A flag beats its environment variable, the variable beats the default.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "samples/engine/cli/flags.h"
#include "samples/engine/runtime/settings.h"

namespace dmengine {

enum class PromptSource { text, file, requests, trace };

struct CommandLine {
  Settings settings;
  PromptSource source = PromptSource::text;
  std::string prompt;  // the text, or the path of the file ("-": standard input)
  bool json = false;
  std::vector<std::string> warnings;  // one line each: variables that have no effect
  std::string answer;                 // not empty: print this instead of running (--help, --version)
};

// `args`: what follows the program's name. Errors are usage, one line, and name the flag or variable at fault.
dmprof::Result<CommandLine> parse_command_line(std::span<const std::string> args, const Environment& environment);

}  // namespace dmengine
