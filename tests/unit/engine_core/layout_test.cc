#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "samples/engine/gguf/writer.h"
#include "samples/engine/model/kv_cache.h"
#include "samples/engine/model/weights.h"
#include "tests/unit/engine_core/engine_fixture.h"

namespace dmengine {
namespace {

using testing::HasSubstr;

TEST(Layout, blocks_tile_every_matrix_without_gap_or_overlap) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_synthetic_model(folder.file("m"), small_shape(), TensorType::q8_0, 1, 3));
  const auto file = GgufFile::open(folder.file("m"));
  ASSERT_TRUE(file);
  for (const uint64_t block_bytes : {uint64_t{1}, uint64_t{700}, uint64_t{5000}, uint64_t{1} << 40}) {
    const auto layout = ModelLayout::read(*file, block_bytes);
    ASSERT_TRUE(layout) << layout.error().message;
    uint32_t next_block = 0;
    for (const MatrixInfo& matrix : (*layout)->matrices) {
      EXPECT_EQ(matrix.first_block, next_block);
      const TensorInfo* tensor = file->find_tensor(matrix.tensor);
      uint64_t offset = tensor->file_offset;
      uint32_t row = 0;
      for (uint32_t b = 0; b < matrix.block_count; ++b) {
        const BlockInfo& block = (*layout)->blocks[next_block++];
        EXPECT_EQ(block.first_row, row);
        EXPECT_EQ(block.file_offset, offset);
        EXPECT_EQ(block.bytes, uint64_t{block.rows} * block.row_bytes);
        EXPECT_LE(block.bytes, std::max<uint64_t>(block_bytes, block.row_bytes));
        EXPECT_EQ((*layout)->block_of_row(block.matrix, block.first_row), block.id);
        EXPECT_EQ((*layout)->block_of_row(block.matrix, block.first_row + block.rows - 1), block.id);
        row += block.rows;
        offset += block.bytes;
      }
      EXPECT_EQ(row, matrix.rows);
      EXPECT_EQ(offset, tensor->file_offset + tensor->bytes);
    }
    EXPECT_EQ(next_block, (*layout)->blocks.size());
  }
  EXPECT_FALSE(ModelLayout::read(*file, 0));
}

// A one-layer model whose metadata and tensors can be spoilt.
struct Recipe {
  std::string architecture = "llama", scaling{};
  uint32_t heads = 4, kv_heads = 2, rope = 16, experts = 0;
  float base = 10000.0F;
  uint64_t ffn_rows = 96, norm_size = 64;
  std::string leave_out{}, extra{};
};

std::string refusal(const Recipe& recipe) {
  const TemporaryFolder folder;
  GgufWriter writer(folder.file("m"));
  writer.add("general.architecture", std::string_view(recipe.architecture));
  writer.add("llama.block_count", uint32_t{1});
  writer.add("llama.context_length", uint32_t{64});
  writer.add("llama.embedding_length", uint32_t{64});
  writer.add("llama.feed_forward_length", uint32_t{96});
  writer.add("llama.attention.head_count", recipe.heads);
  writer.add("llama.attention.head_count_kv", recipe.kv_heads);
  writer.add("llama.rope.dimension_count", recipe.rope);
  writer.add("llama.rope.freq_base", recipe.base);
  if (!recipe.scaling.empty()) writer.add("llama.rope.scaling.type", std::string_view(recipe.scaling));
  if (!recipe.scaling.empty()) writer.add("llama.rope.scaling.factor", 4.0F);
  if (recipe.experts > 0) writer.add("llama.expert_count", recipe.experts);
  size_t bytes = 0;
  const auto tensor = [&](const std::string& name, uint64_t columns, uint64_t rows) {
    if (name == recipe.leave_out) return;
    const uint64_t dims[] = {columns, rows};
    writer.declare(name, TensorType::f32, std::span(dims).first(rows == 1 ? 1 : 2));
    bytes += columns * rows * 4;
  };
  tensor("token_embd.weight", 64, 100);
  tensor("blk.0.attn_norm.weight", recipe.norm_size, 1);
  tensor("blk.0.attn_q.weight", 64, 64);
  tensor("blk.0.attn_k.weight", 64, 32);
  tensor("blk.0.attn_v.weight", 64, 32);
  tensor("blk.0.attn_output.weight", 64, 64);
  tensor("blk.0.ffn_norm.weight", 64, 1);
  tensor("blk.0.ffn_gate.weight", 64, recipe.ffn_rows);
  tensor("blk.0.ffn_up.weight", 64, 96);
  tensor("blk.0.ffn_down.weight", 96, 64);
  tensor("output_norm.weight", 64, 1);
  if (!recipe.extra.empty()) tensor(recipe.extra, 64, recipe.extra == "output.weight" ? 100 : 1);
  EXPECT_TRUE(writer.begin());
  EXPECT_TRUE(writer.write(std::vector<std::byte>(bytes)));
  EXPECT_TRUE(writer.finish());
  const auto file = GgufFile::open(folder.file("m"));
  EXPECT_TRUE(file) << file.error().message;
  const auto layout = ModelLayout::read(*file);
  return layout ? "(accepted)" : layout.error().message;
}

TEST(Layout, accepts_a_plain_decoder_with_tied_or_separate_output) {
  EXPECT_EQ(refusal({}), "(accepted)");
  EXPECT_EQ(refusal({.extra = "output.weight"}), "(accepted)");
  EXPECT_EQ(refusal({.scaling = "none"}), "(accepted)");
}

TEST(Layout, names_what_a_model_lacks_or_has_too_much) {
  EXPECT_THAT(refusal({.leave_out = "blk.0.attn_v.weight"}), HasSubstr("'blk.0.attn_v.weight' is missing"));
  EXPECT_THAT(refusal({.leave_out = "token_embd.weight"}), HasSubstr("'token_embd.weight' is missing"));
  EXPECT_THAT(refusal({.extra = "blk.0.attn_q.bias"}), HasSubstr("'blk.0.attn_q.bias' is not part"));
  EXPECT_THAT(refusal({.ffn_rows = 95}), HasSubstr("has 64 x 95 values, expected 64 x 96"));
  EXPECT_THAT(refusal({.norm_size = 63}), HasSubstr("attn_norm.weight' has 63 x 1"));
}

TEST(Layout, refuses_what_is_not_built) {
  EXPECT_THAT(refusal({.architecture = "qwen2"}), HasSubstr("architecture is 'qwen2'"));
  EXPECT_THAT(refusal({.scaling = "yarn"}), HasSubstr("RoPE scaling ('yarn')"));
  EXPECT_THAT(refusal({.extra = "rope_freqs.weight"}), HasSubstr("RoPE scaling"));
  EXPECT_THAT(refusal({.experts = 8}), HasSubstr("8 experts"));
}

TEST(Layout, refuses_contradictory_sizes) {
  EXPECT_THAT(refusal({.heads = 3, .kv_heads = 1}), HasSubstr("does not divide"));
  EXPECT_THAT(refusal({.kv_heads = 3}), HasSubstr("do not divide"));
  EXPECT_THAT(refusal({.heads = 0}), HasSubstr("is 0"));
  EXPECT_THAT(refusal({.rope = 17}), HasSubstr("rotated dimensions"));
  EXPECT_THAT(refusal({.rope = 32}), HasSubstr("rotated dimensions"));
  EXPECT_THAT(refusal({.base = -1.0F}), HasSubstr("freq_base"));
}

TEST(KvCache, refuses_sizes_that_cannot_be) {
  ModelConfig config;
  config.layers = 1024;
  config.kv_heads = 4096;
  config.head_dim = 4096;
  EXPECT_EQ(KvCache::create(config, 0, 1).error().kind, ErrorKind::usage);
  EXPECT_EQ(KvCache::create(config, 1, 0).error().kind, ErrorKind::usage);
  EXPECT_EQ(KvCache::create(config, 65536, 1 << 24).error().kind, ErrorKind::environment);
}

TEST(KvCache, truncating_never_lengthens) {
  ModelConfig config;
  config.layers = config.kv_heads = 1;
  config.head_dim = 8;
  auto cache = KvCache::create(config, 2, 16);
  ASSERT_TRUE(cache);
  cache->set_length(1, 5);
  cache->truncate(1, 9);
  EXPECT_EQ(cache->length(1), 5U);
  cache->truncate(1, 2);
  EXPECT_EQ(cache->length(1), 2U);
  EXPECT_EQ(cache->bytes(), 2U * 2 * 16 * 8 * 2);
}

}  // namespace
}  // namespace dmengine
