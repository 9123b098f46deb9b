#include "samples/models/train/gguf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "samples/models/train/corpus.h"

namespace dmprof::train {
namespace {

class GgufFile : public ::testing::Test {
 protected:
  GgufFile() : path_(::testing::TempDir() + "dm_train_" + std::to_string(::getpid()) + ".gguf") {
    model_.shape = {.dim = 64, .layers = 2, .heads = 2, .kv_heads = 1, .ffn = 96, .vocab = 0};
    model_.merges = Tokenizer::learn("the earth and the heaven and the sea", 264).merges();
    model_.shape.vocab = Tokenizer(model_.merges).vocab();
    const Layout layout(model_.shape);
    model_.parameters.resize(layout.total);
    initialise(model_.shape, layout, 3, model_.parameters.data());
  }
  ~GgufFile() override { std::filesystem::remove(path_); }

  std::string path_;
  Model model_;
  ModelInfo info_{"tiny", "a test", "none"};
};

TEST_F(GgufFile, f32_comes_back_bit_for_bit) {
  ASSERT_TRUE(write_gguf(path_, model_, info_, MatrixType::f32));
  const auto read = read_gguf(path_);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->parameters, model_.parameters);
  EXPECT_EQ(read->merges, model_.merges);
  EXPECT_EQ(read->shape.kv_heads, 1);
  EXPECT_EQ(read->shape.vocab, model_.shape.vocab);
}

TEST_F(GgufFile, q8_0_comes_back_within_half_a_step_of_each_block) {
  ASSERT_TRUE(write_gguf(path_, model_, info_, MatrixType::q8_0));
  const auto read = read_gguf(path_);
  ASSERT_TRUE(read) << read.error().message;
  for (std::size_t block = 0; block + 32 <= 64 * 64; block += 32) {
    float largest = 0;
    for (std::size_t i = 0; i < 32; ++i) largest = std::max(largest, std::fabs(model_.parameters[block + i]));
    // Half a step, plus the scale's own rounding to half precision times up to 127 steps.
    for (std::size_t i = 0; i < 32; ++i)
      EXPECT_NEAR(read->parameters[block + i], model_.parameters[block + i], largest / 127 * 0.6f);
  }
}

TEST_F(GgufFile, every_truncation_is_refused_with_one_line) {
  ASSERT_TRUE(write_gguf(path_, model_, info_, MatrixType::q8_0));
  const std::string whole = read_file(path_).value();
  for (std::size_t size = 1; size < whole.size(); size += size < 600 ? 1 : 997) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    const auto read = read_gguf(path_);
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
  }
}

TEST_F(GgufFile, an_unwritable_folder_is_named) {
  const auto status = write_gguf("/no/such/folder/x.gguf", model_, info_, MatrixType::f32);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("/no/such/folder/x.gguf"), std::string::npos);
}

}  // namespace
}  // namespace dmprof::train
