#include "samples/models/train/tokenizer.h"

#include <gtest/gtest.h>

#include "samples/models/train/corpus.h"

namespace dmprof::train {
namespace {

const std::string verses =
    "In the beginning God created the heaven and the earth.\nAnd the earth was without form, and void;\n";

TEST(Tokenizer, gives_back_every_byte_value) {
  std::string all;
  for (int i = 0; i < 3; ++i) {
    for (int b = 0; b < 256; ++b) all += static_cast<char>(b);
  }
  Tokenizer tokenizer = Tokenizer::learn(verses, 300);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(all)), all);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(verses)), verses);
}

TEST(Tokenizer, words_are_cut_as_gpt2_cuts_them) {
  const std::vector<std::string_view> expected = {"And", " he", "'s", " 12", " men", ";",
                                                  "  ",  " go", "\n", "\n",  "Go"};
  EXPECT_EQ(split_words("And he's 12 men;   go\n\nGo"), expected);
}

TEST(Tokenizer, merges_learned_shorten_the_text_and_rebuild_the_same_tokenizer) {
  Tokenizer learned = Tokenizer::learn(verses, 300);
  EXPECT_LT(learned.encode(verses).size(), verses.size() * 2 / 3);
  Tokenizer rebuilt(learned.merges());
  EXPECT_EQ(rebuilt.encode(verses), learned.encode(verses));
}

TEST(Tokenizer, stops_learning_when_no_pair_is_left) { EXPECT_EQ(Tokenizer::learn("ab", 1000).vocab(), 258); }

TEST(Printable, stands_for_bytes_as_gpt2_writes_them) {
  EXPECT_EQ(printable(" a\n"), "\u0120a\u010a");
  EXPECT_EQ(printable("\xad\x7f\xff"), "\u0143\u0121\u00ff");
}

TEST(Corpus, holds_out_the_tenth_of_every_twenty_chapters) {
  std::string text;
  for (int chapter = 1; chapter <= 31; ++chapter)
    text += "Ge" + std::to_string(chapter) + ":1 verse " + std::to_string(chapter) + "\n";
  const auto corpus = parse_corpus(text);
  ASSERT_TRUE(corpus);
  EXPECT_EQ(corpus->train.size(), 29u);
  EXPECT_EQ(corpus->held_out, (std::vector<std::string>{"verse 10\n\n", "verse 30\n\n"}));
}

TEST(Corpus, names_the_line_without_a_reference) {
  const auto corpus = parse_corpus("Ge1:1 In the beginning\nno reference here\n");
  ASSERT_FALSE(corpus);
  EXPECT_NE(corpus.error().message.find("line 2"), std::string::npos);
  EXPECT_FALSE(parse_corpus(""));
}

}  // namespace
}  // namespace dmprof::train
