#include "dmprof/report/markdown.h"

#include <fmt/format.h>

namespace dmprof::report {

std::string markdown_cell(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|') safe += '\\';
    safe += c == '\n' ? ' ' : c;
  }
  return safe;
}

std::string markdown_code(const std::string& text) {
  const char* fence = text.find('`') == std::string::npos ? "`" : "``";
  return fmt::format("{}{}{}", fence, markdown_cell(text), fence);
}

}  // namespace dmprof::report
