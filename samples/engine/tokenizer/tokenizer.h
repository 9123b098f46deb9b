// Text to token ids and back, with the vocabulary stored in a GGUF file: byte-level BPE ("gpt2") or SentencePiece
// ("llama"). Immutable after loading: safe to share between threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "samples/engine/gguf/gguf.h"

namespace dmengine {

class Tokenizer {
 public:
  // bad_input when the vocabulary is missing, inconsistent, or of another kind.
  static Result<Tokenizer> from_gguf(const GgufFile& file);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  uint32_t vocab_size() const;
  std::optional<int32_t> bos() const;
  std::optional<int32_t> eos() const;
  bool adds_bos() const;  // the file asks for BOS before a prompt

  // Any bytes are accepted, valid UTF-8 or not. Text is never read as a control token. BOS is put first when `with_bos`
  // and there is one.
  std::vector<int32_t> encode(std::string_view text, bool with_bos) const;

  // The bytes of one token: empty for control tokens and ids outside the vocabulary. For SentencePiece a leading space
  // is kept; decode() drops the one that encode() put before the first word.
  std::string_view piece(int32_t token) const;
  std::string decode(std::span<const int32_t> tokens) const;

 private:
  friend class StreamDecoder;
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Decodes token by token and gives out only whole UTF-8 sequences; bytes that cannot become one come out as U+FFFD.
class StreamDecoder {
 public:
  // `at_start`: the first token opens a text (drops SentencePiece's leading space); false when it continues a prompt.
  explicit StreamDecoder(const Tokenizer& tokenizer, bool at_start = false);

  std::string push(int32_t token);
  std::string finish();  // what is still held back

 private:
  const Tokenizer* tokenizer_;
  bool at_start_;
  std::string pending_;
};

}  // namespace dmengine
