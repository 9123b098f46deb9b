// Text of a recording made fit for formats that demand UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace dmprof::exporting {

// `text` with every NUL and every byte that is no part of valid UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

// The same as a JSON string, quotes included; control characters are escaped.
std::string json_string(std::string_view text);

}  // namespace dmprof::exporting
