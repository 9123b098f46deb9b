#include "samples/engine/tokenizer/utf8.h"

namespace dmengine {

Utf8Character next_character(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const uint32_t first = byte(0);
  const Utf8Character raw{first, 1, false, false};
  if (first < 0x80) return {first, 1, true, false};
  if (first < 0xC2 || first > 0xF4) return raw;
  const size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  uint32_t code = first & (0xFFU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (i == text.size()) return {first, 1, false, true};
    const uint32_t next = byte(i);
    // The second byte's range excludes overlong forms, surrogates and what lies above U+10FFFF.
    const uint32_t low = i > 1 ? 0x80U : first == 0xE0 ? 0xA0U : first == 0xF0 ? 0x90U : 0x80U;
    const uint32_t high = i > 1 ? 0xBFU : first == 0xED ? 0x9FU : first == 0xF4 ? 0x8FU : 0xBFU;
    if (next < low || next > high) return raw;
    code = (code << 6) | (next & 0x3FU);
  }
  return {code, length, true, false};
}

void append_utf8(std::string& out, uint32_t code) {
  const auto put = [&out](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | (code >> 6));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

}  // namespace dmengine
