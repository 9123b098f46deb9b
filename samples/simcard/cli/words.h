// What every command of dm-simcard asks of the words it is given: flags that exist, values that say something.
#pragma once

#include <span>
#include <string>

#include <CLI/CLI.hpp>

namespace dmprof::simcard {

// Has every option that takes a value refuse an empty one; call it when all are declared.
void refuse_empty_values(CLI::App& app);

// "there is no flag --jsn (did you mean --json?)" for the first word that looks like a long flag and is none of the
// command's; "" when there is none.
std::string unknown_flag(const CLI::App& app, std::span<const std::string> words);

}  // namespace dmprof::simcard
