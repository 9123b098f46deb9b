// Splits text the way GPT-2 does before byte-pair merging: English contractions, runs of letters, of numbers and of
// other characters, each with the one space before it, and runs of white space.
#pragma once

#include <string_view>
#include <vector>

namespace dmengine {

// The pieces are consecutive and cover the text. Bytes that are not UTF-8 count as other characters.
std::vector<std::string_view> split_words(std::string_view text);

}  // namespace dmengine
