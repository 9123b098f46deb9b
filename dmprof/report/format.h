// Numbers as people read them, and text that is safe to put on a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dmprof::report {

// "1.24 ms", "12.3 GB/s", "84.7 %" (ratio), "3.21 x", "17 events": the unit's usual prefix, three significant digits.
std::string quantity(double value, std::string_view unit);

std::string thousands(std::uint64_t count);  // "1,234,567"
std::string percent(double share);           // "84.7 %"
std::string bytes(std::uint64_t count);      // "1.2 MB"

// Control characters and invalid UTF-8 replaced by "?": names in a recording are not ours.
std::string printable(std::string_view text);

// Columns a terminal uses for it: characters, wide ones (CJK) counted twice.
std::size_t display_width(std::string_view text);
// `text` with blanks up to `width` columns.
std::string padded(std::string_view text, std::size_t width, bool right = false);

}  // namespace dmprof::report
