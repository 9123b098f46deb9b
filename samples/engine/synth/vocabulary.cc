#include "samples/engine/synth/vocabulary.h"

namespace dmengine {

namespace {

constexpr int32_t kind_normal = 1, kind_control = 3;

// The printable character byte-level BPE writes a byte as, in UTF-8 (all are below U+0800).
std::string written(uint32_t byte) {
  static const std::vector<std::string> table = [] {
    std::vector<std::string> out;
    uint32_t next = 0x100;
    for (uint32_t b = 0; b < 256; ++b) {
      const bool printable = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      const uint32_t code = printable ? b : next++;
      if (code < 0x80) {
        out.emplace_back(1, static_cast<char>(code));
      } else {
        out.push_back({static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F))});
      }
    }
    return out;
  }();
  return table[byte];
}

constexpr uint32_t first_ascii = 0x20, ascii = 95;

}  // namespace

SynthVocabulary make_synth_vocabulary(uint32_t size) {
  SynthVocabulary out;
  out.tokens.push_back("<|endoftext|>");
  out.kinds.push_back(kind_control);
  for (uint32_t byte = 0; byte < 256; ++byte) out.tokens.push_back(written(byte));
  for (uint32_t i = 0; out.tokens.size() < size; ++i) {
    // Pairs first, then a pair and one more character: every merge joins two tokens that exist.
    const bool pair = i < ascii * ascii;
    const uint32_t number = pair ? i : i - ascii * ascii;
    const std::string last = written(first_ascii + number % ascii);
    const uint32_t rest = number / ascii;
    const std::string first = pair ? written(first_ascii + rest)
                                   : written(first_ascii + rest / ascii % ascii) + written(first_ascii + rest % ascii);
    out.tokens.push_back(first + last);
    out.merges.push_back(first + " " + last);
  }
  out.kinds.resize(out.tokens.size(), kind_normal);
  return out;
}

}  // namespace dmengine
