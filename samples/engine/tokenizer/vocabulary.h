// The token table of a GGUF file, checked: what both kinds of tokenizer share. Internal to the tokenizer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "samples/engine/gguf/gguf.h"

namespace dmengine {

// The numbers are those of the file format.
enum class TokenKind : int8_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

struct Vocabulary {
  static Result<Vocabulary> read(const GgufFile& file);

  uint32_t size() const { return static_cast<uint32_t>(texts.size()); }
  std::optional<int32_t> find(std::string_view text) const;

  std::vector<std::string> texts;  // as stored
  std::vector<TokenKind> kinds;    // normal where the file does not say
  std::vector<double> scores;      // empty where the file has none
  std::optional<int32_t> bos, eos, unknown;
  bool add_bos = false;

 private:
  // Keys are views of `texts`, which is never changed after reading; moving a vector keeps its elements in place.
  std::unordered_map<std::string_view, int32_t> ids_;
};

}  // namespace dmengine
