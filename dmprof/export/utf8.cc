#include "dmprof/export/utf8.h"

#include <fmt/format.h>

#include "dmprof/base/utf8.h"

namespace dmprof::exporting {

std::string valid_utf8(std::string_view text) { return clean_utf8(text, {.replacement = "\xef\xbf\xbd"}); }

std::string json_string(std::string_view text) {
  std::string json = "\"";
  for (const char c : valid_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      json += fmt::format("\\u{:04x}", byte);
    } else {
      json += c;
    }
  }
  return json + "\"";
}

}  // namespace dmprof::exporting
