// The nearest known word to a misspelled one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dmprof::simcard {

// The word of `known` with the smallest edit distance to `word`, or "" when none is close (more than a third of it
// differs).
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace dmprof::simcard
