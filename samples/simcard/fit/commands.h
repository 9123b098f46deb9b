// The subcommands `dm-simcard fit` and `dm-simcard predict`.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace dmprof::twin {

// Whether the first argument names one of them.
bool is_twin_command(std::string_view word);

// `args`: the subcommand's name and what follows. Answers go to standard output, errors in one line to standard error.
// Exit status: 0 done, 2 usage, 3 the recordings cannot answer, 4 bad input, 6 environment.
int run_twin_command(std::span<const std::string> args);

}  // namespace dmprof::twin
