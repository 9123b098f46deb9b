// UTF-8 one character at a time, tolerant of anything that is not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dmengine {

struct Utf8Character {
  uint32_t code = 0;
  size_t bytes = 1;
  bool valid = false;    // otherwise `bytes` is 1 and `code` the raw byte
  bool partial = false;  // not valid, but the text ends where more bytes could still make it so
};

// The character at the start of a text that is not empty. Overlong forms, surrogates and codes above U+10FFFF are
// invalid.
Utf8Character next_character(std::string_view text);

void append_utf8(std::string& out, uint32_t code);

}  // namespace dmengine
