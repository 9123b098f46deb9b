// Text as a card sees it: a path of token classes. The language is a seeded Markov chain with skewed transitions; the
// target follows it, a draft guesses it. A wrong guess of a draft ignores the context (it backs off to any class), so
// wrong drafts lead where the text seldom goes.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "samples/simcard/core/random.h"
#include "samples/simcard/speculation/acceptance.h"

namespace dmprof::simcard {

struct LanguageParameters {
  std::uint32_t classes = 128;  // a power of two, 2 .. 4096
  double skew = 1.6;            // transition weights fall with rank^-skew
};

// A token and the one before it: what selects the blocks.
using Context = std::uint32_t;

class Language {
 public:
  Language(const LanguageParameters& parameters, std::uint64_t seed);

  std::uint32_t classes() const { return classes_; }
  std::uint32_t follow(std::uint32_t from, Random& random) const;
  Context context(std::uint32_t before, std::uint32_t token) const { return before * classes_ + token; }

 private:
  std::uint32_t classes_;
  std::uint64_t seed_;
  Discrete ranks_;
};

// One sequence: the true path ahead, and the draft's proposals along it.
class Path {
 public:
  Path(const Language& language, std::uint64_t seed, std::uint64_t sequence);

  // The context of the last emitted token, which the next pass computes first.
  Context head() const { return language_->context(before_, token_); }
  // Sets `contexts` to those of `count` proposals of a draft of that size, on a sequence of that length.
  void draft(const AcceptanceCurve& curve, double billions, std::uint32_t count, std::uint64_t length,
             std::vector<Context>& contexts);
  // How many of the last draft's first `most` proposals the target accepts.
  std::uint32_t accepted(std::uint32_t most) const;
  // Moves on by that many true tokens.
  void emit(std::uint32_t tokens);

 private:
  std::uint32_t truth(std::size_t ahead);  // 0: the token after the last emitted one

  const Language* language_;
  Random text_, draft_;
  std::uint32_t before_ = 0, token_ = 0;
  std::deque<std::uint32_t> ahead_;
  std::vector<std::uint32_t> proposals_;
};

}  // namespace dmprof::simcard
