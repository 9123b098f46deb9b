// Draft tokens by lookup: the text so far is searched for its own last few tokens, and what followed them there is
// proposed (prompt lookup). No model, no bytes moved; useful where text repeats itself.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "samples/engine/speculation/distribution.h"

namespace dmengine {

// The n-grams of one sequence. Not thread-safe.
class NgramIndex {
 public:
  static constexpr std::size_t shortest = 2;
  static constexpr std::size_t longest = 4;

  void append(Token token);
  void append(std::span<const Token> tokens);

  // Up to `count` tokens that followed the longest matching n-gram at its latest earlier place; where that place runs
  // into the end of the text the proposal goes on with itself, so that a loop is proposed as a loop. Empty when nothing
  // matches.
  void propose(std::size_t count, std::vector<Token>& out) const;

 private:
  static constexpr std::size_t orders = longest - shortest + 1;

  std::uint64_t key(std::size_t end, std::size_t order) const;  // of the n-gram that ends before `end`
  bool same(std::size_t a, std::size_t b, std::size_t order) const;

  std::vector<Token> text_;
  std::array<std::unordered_map<std::uint64_t, std::uint32_t>, orders>
      followers_;  // n-gram -> place of the token after it
};

}  // namespace dmengine
