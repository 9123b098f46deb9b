#include "samples/engine/tokenizer/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "samples/engine/gguf/writer.h"
#include "samples/engine/synth/vocabulary.h"
#include "samples/engine/tokenizer/pretokenizer.h"
#include "tests/unit/engine_core/temporary_folder.h"

namespace dmengine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Made {
  std::string model = "gpt2", splitting = "gpt-2";
  std::vector<std::string> tokens{}, merges{};
  std::vector<int32_t> kinds{};
  std::vector<float> scores{};
  uint32_t bos = 0, eos = 0;
};

Result<Tokenizer> make(const Made& made) {
  const TemporaryFolder folder;
  GgufWriter writer(folder.file("m"));
  writer.add("tokenizer.ggml.model", std::string_view(made.model));
  writer.add("tokenizer.ggml.pre", std::string_view(made.splitting));
  if (!made.tokens.empty()) writer.add("tokenizer.ggml.tokens", std::span<const std::string>(made.tokens));
  if (!made.merges.empty()) writer.add("tokenizer.ggml.merges", std::span<const std::string>(made.merges));
  if (!made.kinds.empty()) writer.add("tokenizer.ggml.token_type", std::span<const int32_t>(made.kinds));
  if (!made.scores.empty()) writer.add("tokenizer.ggml.scores", std::span<const float>(made.scores));
  writer.add("tokenizer.ggml.bos_token_id", made.bos);
  writer.add("tokenizer.ggml.eos_token_id", made.eos);
  EXPECT_TRUE(writer.begin());
  EXPECT_TRUE(writer.finish());
  const auto file = GgufFile::open(folder.file("m"));
  EXPECT_TRUE(file) << file.error().message;
  return Tokenizer::from_gguf(*file);
}

// The 256 bytes, then the merges given, in order.
Made byte_pairs(const std::vector<std::pair<std::string, std::string>>& merges) {
  const SynthVocabulary bytes = make_synth_vocabulary(257);
  Made made{.tokens = bytes.tokens, .kinds = bytes.kinds};
  for (const auto& [left, right] : merges) {
    made.tokens.push_back(left + right);
    made.kinds.push_back(1);
    made.merges.push_back(left + " " + right);
  }
  if (made.merges.empty()) made.merges.push_back("q q");
  return made;
}

std::vector<std::string> pieces(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string> out;
  for (const int32_t token : tokenizer.encode(text, false)) out.emplace_back(tokenizer.piece(token));
  return out;
}

TEST(Pretokenizer, splits_like_gpt2) {
  EXPECT_THAT(split_words("Hello, world"), ElementsAre("Hello", ",", " world"));
  EXPECT_THAT(split_words("it's they'll I'd x'y"), ElementsAre("it", "'s", " they", "'ll", " I", "'d", " x", "'", "y"));
  EXPECT_THAT(split_words("a  b   c"), ElementsAre("a", " ", " b", "  ", " c"));
  EXPECT_THAT(split_words("a\n\nb \n c"), ElementsAre("a", "\n", "\n", "b", " \n", " c"));
  EXPECT_THAT(split_words("end  "), ElementsAre("end", "  "));
  EXPECT_THAT(split_words("room 101b!?"), ElementsAre("room", " 101", "b", "!?"));
  EXPECT_THAT(split_words("\xC3\xA4\xC3\xB6 \xE4\xB8\xAD\xE6\x96\x87\xE3\x80\x82"),
              ElementsAre("\xC3\xA4\xC3\xB6", " \xE4\xB8\xAD\xE6\x96\x87", "\xE3\x80\x82"));
  EXPECT_THAT(split_words(" 's"), ElementsAre(" '", "s"));
  EXPECT_THAT(split_words(""), ElementsAre());
  EXPECT_THAT(split_words("\xFF\xFE"
                          "a"),
              ElementsAre("\xFF\xFE", "a"));
}

TEST(BytePair, merges_in_the_order_of_the_list_not_of_the_text) {
  const auto tokenizer = make(byte_pairs({{"b", "c"}, {"a", "b"}, {"a", "bc"}}));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_THAT(pieces(*tokenizer, "abc"), ElementsAre("abc"));
  EXPECT_THAT(pieces(*tokenizer, "abd"), ElementsAre("ab", "d"));
  EXPECT_THAT(pieces(*tokenizer, "abab"), ElementsAre("ab", "ab"));
}

TEST(BytePair, merges_equal_pairs_from_the_left) {
  const auto tokenizer = make(byte_pairs({{"a", "a"}}));
  ASSERT_TRUE(tokenizer);
  EXPECT_THAT(pieces(*tokenizer, "aaaaa"), ElementsAre("aa", "aa", "a"));
}

TEST(BytePair, never_merges_across_words) {
  const auto tokenizer = make(byte_pairs({{"a", "\xC4\xA0"}, {"\xC4\xA0", "b"}}));  // U+0120 stands for a blank
  ASSERT_TRUE(tokenizer);
  EXPECT_THAT(pieces(*tokenizer, "a b"), ElementsAre("a", " b"));
}

TEST(BytePair, any_bytes_come_back_unchanged) {
  const auto tokenizer = make(byte_pairs({{"t", "h"}, {"th", "e"}, {"\xC3\x83", "\xC2\xA4"}}));
  ASSERT_TRUE(tokenizer);
  std::mt19937 engine(1);
  for (int round = 0; round < 200; ++round) {
    std::string text(engine() % 40, '\0');
    for (char& c : text) c = static_cast<char>(engine());
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text, true)), text);
  }
}

TEST(BytePair, bos_is_added_on_request_and_prints_nothing) {
  const auto tokenizer = make(byte_pairs({}));
  ASSERT_TRUE(tokenizer);
  const auto tokens = tokenizer->encode("a", true);
  EXPECT_THAT(tokens, ElementsAre(0, 1 + 'a'));
  EXPECT_EQ(tokenizer->decode(tokens), "a");
  EXPECT_EQ(tokenizer->encode("<|endoftext|>", false).size(), 13U);  // text is never a control token
  EXPECT_EQ(tokenizer->piece(-1), "");
  EXPECT_EQ(tokenizer->piece(1'000'000), "");
}

TEST(BytePair, a_long_word_is_merged_in_reasonable_time) {
  const auto tokenizer = make(byte_pairs({{"a", "a"}, {"aa", "aa"}, {"aaaa", "aaaa"}}));
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(tokenizer->encode(std::string(400'000, 'a'), false).size(), 50'000U);
}

TEST(BytePair, a_merge_that_is_no_token_falls_apart_into_its_bytes) {
  Made made = byte_pairs({{"b", "c"}});
  for (const char* merge : {"a b", "ab c"})
    made.merges.insert(made.merges.begin(), merge);  // results not in the vocabulary
  const auto tokenizer = make(made);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_THAT(pieces(*tokenizer, "abc"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(pieces(*tokenizer, "bc"), ElementsAre("bc"));
}

TEST(BytePair, a_long_word_of_merges_that_are_no_tokens_is_taken_apart_in_reasonable_time) {
  Made made = byte_pairs({});
  made.merges.clear();
  for (size_t length = 1; length <= 1 << 17; length *= 2) {
    made.merges.push_back(std::string(length, 'a') + " " + std::string(length, 'a'));
  }
  const auto tokenizer = make(made);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const std::string word(300'000, 'a');
  const auto tokens = tokenizer->encode(word, false);
  EXPECT_EQ(tokens.size(), word.size());
  EXPECT_EQ(tokenizer->decode(tokens), word);
}

Made sentencepiece() {
  Made made{.model = "llama", .splitting = "default"};
  const auto add = [&made](const std::string& text, int32_t kind, float score) {
    made.tokens.push_back(text);
    made.kinds.push_back(kind);
    made.scores.push_back(score);
  };
  add("<unk>", 2, 0);
  add("<s>", 3, 0);
  add("</s>", 3, 0);
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof(text), "<0x%02X>", static_cast<unsigned>(byte));
    add(text, 6, 0);
  }
  const std::string blank = "\xE2\x96\x81";
  float score = -1;
  for (const std::string& text :
       {blank + "he", std::string("he"), std::string("llo"), std::string("ll"), blank + "hello", std::string("h"),
        std::string("e"), std::string("l"), std::string("o"), blank}) {
    add(text, 1, score--);
  }
  made.bos = 1;
  made.eos = 2;
  return made;
}

TEST(SentencePiece, the_highest_score_merges_first) {
  const auto tokenizer = make(sentencepiece());
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_TRUE(tokenizer->adds_bos());
  EXPECT_THAT(pieces(*tokenizer, "hello"), ElementsAre(" hello"));
  EXPECT_THAT(pieces(*tokenizer, "hell"), ElementsAre(" he", "ll"));
  EXPECT_THAT(pieces(*tokenizer, "he he"), ElementsAre(" he", " he"));
}

TEST(SentencePiece, what_no_token_covers_is_spelled_in_bytes) {
  const auto tokenizer = make(sentencepiece());
  ASSERT_TRUE(tokenizer);
  EXPECT_THAT(pieces(*tokenizer, "\xC3\xA4"), ElementsAre(" ", "\xC3", "\xA4"));
  for (const std::string text : {"hello \xE4\xB8\xAD", " two  blanks ", "\xFF", "x"}) {
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text, true)), text);
  }
}

TEST(StreamDecoder, gives_out_whole_characters_only) {
  const auto tokenizer = make(sentencepiece());
  ASSERT_TRUE(tokenizer);
  const auto tokens = tokenizer->encode(
      "\xE4\xB8\xAD"
      "e",
      false);
  ASSERT_EQ(tokens.size(), 5U);
  StreamDecoder decoder(*tokenizer, true);
  EXPECT_EQ(decoder.push(tokens[0]), "");  // the leading space
  EXPECT_EQ(decoder.push(tokens[1]), "");
  EXPECT_EQ(decoder.push(tokens[2]), "");
  EXPECT_EQ(decoder.push(tokens[3]), "\xE4\xB8\xAD");
  EXPECT_EQ(decoder.push(tokens[4]), "e");
  EXPECT_EQ(decoder.finish(), "");
}

TEST(StreamDecoder, replaces_what_cannot_become_a_character) {
  const auto tokenizer = make(byte_pairs({}));
  ASSERT_TRUE(tokenizer);
  const auto push = [](StreamDecoder& decoder, unsigned byte) {
    // Byte b is token b + 1 in this vocabulary.
    return decoder.push(static_cast<int32_t>(byte) + 1);
  };
  StreamDecoder decoder(*tokenizer);
  EXPECT_EQ(push(decoder, 0xE4), "");
  EXPECT_EQ(push(decoder, 'a'),
            "\xEF\xBF\xBD"
            "a");
  EXPECT_EQ(push(decoder, 0x80), "\xEF\xBF\xBD");
  EXPECT_EQ(push(decoder, 0xF0), "");
  EXPECT_EQ(decoder.finish(), "\xEF\xBF\xBD");
  EXPECT_EQ(decoder.finish(), "");
}

TEST(Tokenizer, refuses_vocabularies_that_do_not_fit_together) {
  const auto refusal = [](const Made& made) {
    const auto tokenizer = make(made);
    return tokenizer ? std::string("(accepted)") : tokenizer.error().message;
  };
  Made made = byte_pairs({});
  EXPECT_EQ(refusal(made), "(accepted)");
  EXPECT_THAT(refusal({.model = "bert", .tokens = {"a"}}), HasSubstr("kind 'bert'"));
  EXPECT_THAT(refusal({.tokens = {}}), HasSubstr("no 'tokenizer.ggml.tokens'"));
  EXPECT_THAT(refusal({.tokens = {"a"}}), HasSubstr("no 'tokenizer.ggml.merges'"));
  EXPECT_THAT(refusal({.tokens = {"a"}, .merges = {"ab"}}), HasSubstr("not two parts"));
  EXPECT_THAT(refusal({.model = "llama", .tokens = {"a"}}), HasSubstr("no 'tokenizer.ggml.scores'"));
  EXPECT_THAT(refusal({.model = "llama", .tokens = {"a", "b"}, .scores = {1.0F}}), HasSubstr("1 scores for 2 tokens"));
  made.kinds.pop_back();
  EXPECT_THAT(refusal(made), HasSubstr("256 token types for 257 tokens"));
  made.kinds.push_back(9);
  EXPECT_THAT(refusal(made), HasSubstr("unknown type 9"));
  made = byte_pairs({});
  made.bos = 257;
  EXPECT_THAT(refusal(made), HasSubstr("bos_token_id' is 257"));
  made = byte_pairs({});
  made.splitting = "llama-bpe";
  EXPECT_THAT(refusal(made), HasSubstr("'llama-bpe'"));
}

}  // namespace
}  // namespace dmengine
