#include "samples/engine/model/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/unit/engine_core/engine_fixture.h"
#include "tests/unit/engine_core/naive_decoder.h"

namespace dmengine {
namespace {

using testing::HasSubstr;

class EachType : public testing::TestWithParam<TensorType> {
 protected:
  void SetUp() override {
    path_ = folder_.file("model.gguf");
    ASSERT_TRUE(write_synthetic_model(path_, small_shape(), GetParam(), 5, 3));
  }

  TemporaryFolder folder_;
  std::string path_;
};
INSTANTIATE_TEST_SUITE_P(Model, EachType, testing::Values(TensorType::f32, TensorType::f16, TensorType::q8_0),
                         [](const auto& param) { return std::string(to_string(param.param)); });

double relative_error(const std::vector<double>& expected, const float* got) {
  double error = 0, size = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    error += std::pow(expected[i] - static_cast<double>(got[i]), 2);
    size += expected[i] * expected[i];
  }
  return std::sqrt(error / size);
}

TEST_P(EachType, agrees_with_the_naive_decoder) {
  LoadedModel loaded(path_, 2, 4096, KvType::f32);
  const NaiveDecoder naive(path_);
  const auto tokens = some_tokens(24);
  const auto logits = loaded.append(0, tokens);
  // Q8_0 rounds activations to 7 bits as well: about 1 % noise a product.
  const double tolerance = GetParam() == TensorType::q8_0 ? 0.06 : 2e-6;
  for (const size_t length : {size_t{1}, size_t{2}, size_t{9}, size_t{24}}) {
    const auto expected = naive.logits({tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(length)});
    EXPECT_LT(relative_error(expected, logits.data() + (length - 1) * 300), tolerance) << length;
  }
}

TEST_P(EachType, half_precision_keys_and_values_change_little) {
  LoadedModel loaded(path_);
  const NaiveDecoder naive(path_);
  const auto tokens = some_tokens(24);
  const auto logits = loaded.append(0, tokens);
  EXPECT_LT(relative_error(naive.logits(tokens), logits.data() + 23 * 300),
            GetParam() == TensorType::q8_0 ? 0.06 : 2e-3);
}

// The invariant lossless speculation rests on: whatever shares the batch, the bits are the same.
TEST_P(EachType, logits_are_bit_identical_however_the_work_is_split) {
  const auto tokens = some_tokens(70);
  LoadedModel one_by_one(path_, 1, 1 << 20);
  std::vector<float> expected;
  for (const int32_t token : tokens) {
    const auto row = one_by_one.append(0, {token});
    expected.insert(expected.end(), row.begin(), row.end());
  }
  const auto same = [&](const std::vector<float>& got, size_t first_row, size_t rows) {
    return std::memcmp(got.data(), expected.data() + first_row * 300, rows * 300 * sizeof(float)) == 0;
  };
  for (const unsigned threads : {1U, 2U, 3U}) {
    for (const uint64_t block_bytes : {uint64_t{1}, uint64_t{3000}, uint64_t{1} << 20}) {
      LoadedModel loaded(path_, threads, block_bytes);
      EXPECT_TRUE(same(loaded.append(0, tokens), 0, 70)) << threads << " threads, blocks of " << block_bytes;
    }
  }
  LoadedModel loaded(path_);
  size_t done = 0;
  for (size_t chunk = 1; done + chunk <= tokens.size(); ++chunk) {
    const std::vector<int32_t> part(tokens.begin() + static_cast<std::ptrdiff_t>(done),
                                    tokens.begin() + static_cast<std::ptrdiff_t>(done + chunk));
    EXPECT_TRUE(same(loaded.append(1, part), done, chunk)) << "chunk of " << chunk;
    done += chunk;
  }
}

TEST_P(EachType, sequences_of_a_batch_do_not_touch_each_other) {
  const auto tokens = some_tokens(40);
  LoadedModel alone(path_);
  const auto expected = alone.append(0, tokens);
  LoadedModel together(path_);
  const std::vector<int32_t> first(tokens.begin(), tokens.begin() + 30), rest(tokens.begin() + 30, tokens.end());
  const auto other = some_tokens(50, 250);
  Batch batch;
  batch.sequences = {{2, 0, other, LogitRows::none}, {0, 0, first, LogitRows::last}, {3, 0, rest, LogitRows::all}};
  const auto logits = together.run(batch);
  ASSERT_EQ(logits.size(), 300U * 11);
  EXPECT_EQ(0, std::memcmp(logits.data(), expected.data() + size_t{29} * 300, 300 * sizeof(float)));
  Batch more;
  more.sequences = {{3, 10, other, LogitRows::last}, {0, 30, rest, LogitRows::all}, {2, 50, first, LogitRows::last}};
  const auto next = together.run(more);
  EXPECT_EQ(0, std::memcmp(next.data() + 300, expected.data() + size_t{30} * 300, 10 * 300 * sizeof(float)));
}

TEST_P(EachType, rejected_drafts_leave_no_trace) {
  const auto tokens = some_tokens(20);
  LoadedModel plain(path_);
  const auto expected = plain.append(0, tokens);
  LoadedModel drafted(path_);
  std::vector<float> got;
  for (size_t i = 0; i < tokens.size(); ++i) {
    // The right token, then three drafts that are all rejected.
    const auto rows = drafted.append(0, {tokens[i], 1, 2, 3});
    got.insert(got.end(), rows.begin(), rows.begin() + 300);
    drafted.cache->truncate(0, static_cast<uint32_t>(i) + 1);
  }
  EXPECT_EQ(0, std::memcmp(got.data(), expected.data(), expected.size() * sizeof(float)));
}

TEST_P(EachType, a_copied_prefix_continues_like_the_original) {
  const auto tokens = some_tokens(12);
  LoadedModel loaded(path_);
  loaded.append(0, tokens);
  loaded.append(1, {7, 8});
  loaded.cache->copy_prefix(0, 1, 10);
  EXPECT_EQ(loaded.cache->length(1), 10U);
  loaded.cache->truncate(0, 10);
  EXPECT_EQ(loaded.append(0, {5}), loaded.append(1, {5}));
}

TEST_P(EachType, counts_bytes_and_operations_exactly) {
  LoadedModel loaded(path_);
  ForwardStats stats;
  loaded.append(0, {1, 2, 3}, &stats);
  const ModelConfig& config = loaded.layout->config;
  const uint64_t row = loaded.layout->matrices[loaded.layout->embedding].row_bytes;
  EXPECT_EQ(stats.parameter_bytes, loaded.layout->parameter_bytes() + 3 * row);
  const uint64_t position = 2 * 3 * 32 * 2;  // keys and values, layers, kv width, bytes
  EXPECT_EQ(loaded.cache->bytes_per_position(), position);
  EXPECT_EQ(stats.kv_bytes_written, 3 * position);
  EXPECT_EQ(stats.kv_bytes_read, 3 * position);
  const uint64_t weights = uint64_t{300} * 64 + 3 * (2 * 64 * 64 + 2 * 32 * 64 + 3 * 160 * 64);
  const uint64_t attention = uint64_t{3} * (1 + 2 + 3) * 4 * config.q_dim();
  EXPECT_EQ(stats.flops, 2 * weights * 3 + attention);
  EXPECT_EQ(stats.kernels[static_cast<size_t>(KernelClass::attention)].calls, 3U);
  EXPECT_EQ(stats.kernels[static_cast<size_t>(KernelClass::matmul)].calls, 13U);
}

TEST_P(EachType, tells_an_observer_each_operation_once_and_in_order) {
  struct Recorder : OpObserver {
    void op_begin(const OpInfo& op) override { open.push_back(op.name); }
    void op_end(const OpInfo& op) override {
      EXPECT_STREQ(open.back(), op.name);
      ++ended;
    }
    std::vector<const char*> open;
    size_t ended = 0;
  } recorder;
  LoadedModel loaded(path_);
  loaded.model->set_observer(&recorder);
  loaded.append(0, {1});
  EXPECT_EQ(recorder.ended, recorder.open.size());
  const std::vector<std::string> names(recorder.open.begin(), recorder.open.end());
  std::vector<std::string> expected = {"embed"};
  for (int layer = 0; layer < 3; ++layer) {
    for (const char* name : {"norm", "qkv", "rope", "attention", "wo", "norm", "gate_up", "swiglu", "down"})
      expected.push_back(name);
  }
  expected.insert(expected.end(), {"norm", "output"});
  EXPECT_EQ(names, expected);
  loaded.model->set_observer(nullptr);
  loaded.append(0, {1});
  EXPECT_EQ(recorder.ended, expected.size());
}

class Refusals : public testing::Test {
 protected:
  void SetUp() override {
    path_ = folder_.file("model.gguf");
    ASSERT_TRUE(write_synthetic_model(path_, small_shape(), TensorType::q8_0, 5, 3));
    loaded_ = std::make_unique<LoadedModel>(path_);
  }
  std::string refusal(const Batch& batch, size_t logits) {
    std::vector<float> room(logits);
    const auto status = loaded_->model->forward(*loaded_->cache, batch, room);
    return status ? "(accepted)" : status.error().message;
  }

  TemporaryFolder folder_;
  std::string path_;
  std::unique_ptr<LoadedModel> loaded_;
};

TEST_F(Refusals, batches_that_do_not_fit_are_refused_and_change_nothing) {
  const std::vector<int32_t> one = {1}, none, outside = {300}, negative = {-1}, many(257, 1);
  EXPECT_THAT(refusal({{{4, 0, one, LogitRows::last}}}, 300), HasSubstr("slot 4 of 4"));
  EXPECT_THAT(refusal({{{0, 0, one, LogitRows::none}, {0, 1, one, LogitRows::none}}}, 0), HasSubstr("named twice"));
  EXPECT_THAT(refusal({{{0, 0, none, LogitRows::none}}}, 0), HasSubstr("no tokens"));
  EXPECT_THAT(refusal({{{0, 3, one, LogitRows::last}}}, 300), HasSubstr("holds 0 positions"));
  EXPECT_THAT(refusal({{{0, 0, outside, LogitRows::last}}}, 300), HasSubstr("token 300 is outside"));
  EXPECT_THAT(refusal({{{0, 0, negative, LogitRows::last}}}, 300), HasSubstr("token -1 is outside"));
  EXPECT_THAT(refusal({{{0, 0, many, LogitRows::none}}}, 0), HasSubstr("has room for 256"));
  EXPECT_THAT(refusal({{{0, 0, one, LogitRows::last}}}, 299), HasSubstr("300 are needed"));
  EXPECT_EQ(loaded_->cache->length(0), 0U);
  EXPECT_EQ(refusal({{{0, 0, one, LogitRows::last}}}, 300), "(accepted)");
}

// Hands out blocks until one fails; checks that what is acquired is also released.
class FailingWeights : public WeightSource {
 public:
  FailingWeights(WeightSource& real, uint32_t held) : real_(&real), held_(held) {}
  Result<std::span<const std::byte>> acquire(uint32_t block) override {
    if (block == fails_at) return fail(ErrorKind::environment, "block lost");
    most_out = std::max(most_out, ++out);
    order.push_back(block);
    return real_->acquire(block);
  }
  void release(uint32_t block) override {
    --out;
    real_->release(block);
  }
  uint32_t max_held() const override { return held_; }

  uint32_t fails_at = 0xFFFFFFFF, out = 0, most_out = 0;
  std::vector<uint32_t> order;

 private:
  WeightSource* real_;
  uint32_t held_;
};

TEST_F(Refusals, a_block_that_cannot_be_read_ends_the_pass_and_can_be_tried_again) {
  FailingWeights weights(*loaded_->weights, 3);
  Model model(loaded_->layout, weights, loaded_->pool);
  const std::vector<int32_t> tokens = {1, 2};
  std::vector<float> logits(300);
  const Batch batch{{{0, 0, tokens, LogitRows::last}}};
  weights.fails_at = 20;
  const auto status = model.forward(*loaded_->cache, batch, logits);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "block lost");
  EXPECT_EQ(weights.out, 0U);
  EXPECT_EQ(loaded_->cache->length(0), 0U);
  weights.fails_at = 0xFFFFFFFF;
  ASSERT_TRUE(model.forward(*loaded_->cache, batch, logits));
  EXPECT_EQ(weights.most_out, 3U);
  LoadedModel fresh(path_);
  const auto expected = fresh.append(0, tokens);
  EXPECT_EQ(0, std::memcmp(expected.data() + 300, logits.data(), 300 * sizeof(float)));
}

TEST_F(Refusals, blocks_are_read_in_the_order_they_are_numbered) {
  FailingWeights weights(*loaded_->weights, 1);
  Model model(loaded_->layout, weights, loaded_->pool);
  const std::vector<int32_t> tokens = {1};
  std::vector<float> logits(300);
  ASSERT_TRUE(model.forward(*loaded_->cache, {{{0, 0, tokens, LogitRows::last}}}, logits));
  EXPECT_EQ(weights.most_out, 1U);
  const auto blocks = static_cast<uint32_t>(loaded_->layout->blocks.size());
  ASSERT_EQ(weights.order.size(), blocks + 1);
  EXPECT_EQ(weights.order[0], loaded_->layout->block_of_row(loaded_->layout->embedding, 1));
  for (uint32_t block = 0; block < blocks; ++block) EXPECT_EQ(weights.order[block + 1], block);
}

}  // namespace
}  // namespace dmengine
