// Text from other programs and files made fit for terminals, JSON and SQLite.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dmprof {

// Bytes of the well-formed UTF-8 character at the start of `text` (shortest form, no surrogate, at most U+10FFFF), 0
// when there is none.
inline std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool too_long = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool outside = (lead == 0xed && byte(1) > 0x9f) || (lead == 0xf4 && byte(1) > 0x8f);
  return too_long || outside ? 0 : length;
}

struct Utf8Cleaning {
  std::string_view replacement = "?";
  bool control = true;                    // keeps ASCII control characters; NUL goes in any case
  std::size_t limit = std::string::npos;  // bytes of the result
};

// `text` with every byte that is no part of a well-formed character, and what `how` names, replaced; cut between
// characters.
inline std::string clean_utf8(std::string_view text, const Utf8Cleaning& how = {}) {
  std::string clean;
  clean.reserve(text.size() < how.limit ? text.size() : how.limit);
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto lead = static_cast<unsigned char>(text.front());
    const bool keep = length != 0 && lead != 0 && (how.control || (lead >= 0x20 && lead != 0x7f));
    const std::string_view piece = keep ? text.substr(0, length) : how.replacement;
    if (clean.size() + piece.size() > how.limit) break;
    clean += piece;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return clean;
}

}  // namespace dmprof
