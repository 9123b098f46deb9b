// The rules a diagnosis uses: those built into the program, and those of folders the user names.
#pragma once

#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "rules/engine/rule.h"

namespace dmprof::cli {

// Built-in rules, then those of each folder; a rule of a folder replaces a built-in one of the same id.
// $XDG_CONFIG_HOME/dmprof/rules is such a folder, the first, where it exists. A file that holds no rule is refused and
// named; the others are there all the same.
Result<rules::RuleFolder> load_playbook(const std::vector<std::string>& folders);

}  // namespace dmprof::cli
