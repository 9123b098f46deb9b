// The two kinds of tokenizer behind one face. Internal to the tokenizer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "samples/engine/gguf/gguf.h"
#include "samples/engine/tokenizer/vocabulary.h"

namespace dmengine {

class Encoder {
 public:
  virtual ~Encoder() = default;

  virtual void encode(std::string_view text, std::vector<int32_t>& out) const = 0;
  // The bytes a token stands for; empty for control tokens.
  virtual std::string bytes_of(int32_t token) const = 0;
  // encode() puts a space before the first word, which decoding takes away again.
  virtual bool adds_leading_space() const { return false; }
};

// `vocabulary` must outlive the encoder.
Result<std::unique_ptr<Encoder>> make_byte_pair_encoder(const GgufFile& file, const Vocabulary& vocabulary);
Result<std::unique_ptr<Encoder>> make_sentencepiece_encoder(const GgufFile& file, const Vocabulary& vocabulary);

}  // namespace dmengine
