#include "samples/engine/speculation/ngram.h"

#include <gtest/gtest.h>

namespace dmengine {
namespace {

std::vector<Token> propose(const std::vector<Token>& text, std::size_t count) {
  NgramIndex index;
  index.append(text);
  std::vector<Token> out;
  index.propose(count, out);
  return out;
}

TEST(Ngram, proposes_what_followed_the_same_words_before) {
  EXPECT_EQ(propose({1, 2, 3, 4, 5, 1, 2}, 3), (std::vector<Token>{3, 4, 5}));
}

TEST(Ngram, prefers_the_longest_match_over_the_latest) {
  EXPECT_EQ(propose({7, 1, 2, 9, 8, 1, 2, 5, 7, 1, 2}, 1), (std::vector<Token>{9}));
}

TEST(Ngram, of_equal_matches_the_latest_wins) {
  EXPECT_EQ(propose({1, 2, 9, 1, 2, 5, 1, 2}, 1), (std::vector<Token>{5}));
}

TEST(Ngram, continues_a_loop_beyond_the_end_of_the_text) {
  EXPECT_EQ(propose({1, 2, 3, 1, 2, 3}, 7), (std::vector<Token>{1, 2, 3, 1, 2, 3, 1}));
}

TEST(Ngram, proposes_nothing_without_a_match) {
  EXPECT_TRUE(propose({1, 2, 3, 4}, 4).empty());
  EXPECT_TRUE(propose({}, 4).empty());
  EXPECT_TRUE(propose({5}, 4).empty());
}

TEST(Ngram, one_repeated_token_is_not_enough) { EXPECT_TRUE(propose({1, 2, 3, 1}, 4).empty()); }

}  // namespace
}  // namespace dmengine
