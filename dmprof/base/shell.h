// Words for a shell, quoted so that it takes them apart again in the same way. Thread-safe.
#pragma once

#include <string>
#include <vector>

namespace dmprof {

std::string shell_quoted(const std::string& word);
std::string shell_quoted(const std::vector<std::string>& words);  // joined by blanks

}  // namespace dmprof
