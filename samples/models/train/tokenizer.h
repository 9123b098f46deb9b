// Byte-level BPE as GPT-2 does it: text is cut into words by GPT-2's pattern, and merges apply inside a word.
// Ids: 0 begins and ends a text, 1 + b is the byte b, then one id a merge in the order learned.
// Only ASCII is classified; a byte above 127 counts as a letter, so that any text survives the round trip.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "samples/models/train/network.h"

namespace dmprof::train {

std::vector<std::string_view> split_words(std::string_view text);

class Tokenizer {
 public:
  static constexpr Token boundary = 0;
  using Pair = std::pair<Token, Token>;

  // Rebuilds the tokenizer from its merges, each a pair of ids that exist before it.
  explicit Tokenizer(std::vector<Pair> merges);

  // Learns merges from the text until the vocabulary is full; the most frequent pair first, ties by the lower ids.
  static Tokenizer learn(std::string_view text, int vocab);

  int vocab() const { return static_cast<int>(bytes_.size()); }
  const std::vector<Pair>& merges() const { return merges_; }
  const std::string& bytes(Token token) const { return bytes_[token]; }

  // Without boundaries. Not thread-safe: remembers words.
  std::vector<Token> encode(std::string_view text);
  std::string decode(const std::vector<Token>& tokens) const;

 private:
  std::vector<Token> encode_word(std::string_view word) const;

  std::vector<Pair> merges_;
  std::vector<std::string> bytes_;
  std::map<Pair, Token> rank_;
  std::unordered_map<std::string, std::vector<Token>> known_words_;
};

// The printable stand-ins that GPT-2 writes for bytes, as UTF-8.
std::string printable(std::string_view bytes);

}  // namespace dmprof::train
