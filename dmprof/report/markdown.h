// Pieces of the pages in docs.
#pragma once

#include <string>

namespace dmprof::report {

// Text of a table's cell or a line: pipes and line ends would break it.
std::string markdown_cell(const std::string& text);
// Shell words, names and conditions; longer fences where the text has backticks itself.
std::string markdown_code(const std::string& text);

}  // namespace dmprof::report
