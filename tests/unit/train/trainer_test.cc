// Training, resuming, decoding and distilling a model small enough to train in a moment.
#include "samples/models/train/trainer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "samples/models/train/decoder.h"
#include "samples/models/train/evaluate.h"

namespace dmprof::train {
namespace {

constexpr Shape small{.dim = 32, .layers = 1, .heads = 2, .kv_heads = 1, .ffn = 32, .vocab = 300, .context = 24};

class Training : public ::testing::Test {
 protected:
  Training() : folder_(::testing::TempDir() + "dm_train_test_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
    for (int i = 0; i < 400; ++i) stream_.push_back(static_cast<Token>(i % 7 * 40));
    options_.schedule = {.peak = 1e-2f, .warmup = 2, .steps = 12};
    options_.threads = 1;
  }
  ~Training() override { std::filesystem::remove_all(folder_); }

  std::vector<float> fresh() const {
    const Layout layout(small);
    std::vector<float> parameters(layout.total);
    initialise(small, layout, 1, parameters.data());
    return parameters;
  }
  Status run(std::vector<float>& parameters, const Teacher* teacher = nullptr) {
    return train(small, stream_, teacher, options_, parameters, [this](const Progress& p) { last_ = p; });
  }

  std::string folder_;
  std::vector<Token> stream_;
  TrainOptions options_;
  Progress last_;
};

TEST_F(Training, learns_a_text_that_repeats) {
  options_.schedule.steps = 150;
  options_.threads = 2;
  std::vector<float> parameters = fresh();
  EXPECT_GT(evaluate(small, parameters, stream_, 100, 1), 5.0);
  ASSERT_TRUE(run(parameters));
  EXPECT_LT(evaluate(small, parameters, stream_, 100, 2), 0.3);
  EXPECT_EQ(last_.step, 150);
}

TEST_F(Training, a_run_that_was_stopped_ends_in_the_same_weights) {
  options_.schedule.warmup = 12;  // within the warm-up the rate does not depend on how many steps are planned
  std::vector<float> whole = fresh();
  ASSERT_TRUE(run(whole));
  options_.checkpoint = folder_ + "/half.ckpt";
  options_.checkpoint_every = 6;
  options_.schedule.steps = 7;
  std::vector<float> half = fresh();
  ASSERT_TRUE(run(half));
  EXPECT_NE(half, whole);
  options_.schedule.steps = 12;
  std::vector<float> resumed(half.size());
  ASSERT_TRUE(run(resumed));
  EXPECT_EQ(resumed, whole);
}

TEST_F(Training, a_damaged_checkpoint_is_refused_by_name) {
  options_.checkpoint = folder_ + "/bad.ckpt";
  std::ofstream(options_.checkpoint) << "not a checkpoint";
  std::vector<float> parameters = fresh();
  const Status status = run(parameters);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("bad.ckpt"), std::string::npos);
}

TEST_F(Training, too_short_a_text_is_refused) {
  stream_.resize(30);
  std::vector<float> parameters = fresh();
  EXPECT_FALSE(run(parameters));
}

TEST_F(Training, a_draft_distilled_from_a_teacher_comes_near_it) {
  options_.schedule.steps = 150;
  std::vector<float> target = fresh();
  ASSERT_TRUE(run(target));
  const std::string path = folder_ + "/teacher.bin";
  ASSERT_TRUE(Teacher::compute(path, small, target, stream_, 1000, 2));
  auto teacher = Teacher::open(path, small.context, small.vocab);
  ASSERT_TRUE(teacher);
  EXPECT_EQ(teacher->windows(), 400u / 24u);
  std::vector<float> draft = fresh();
  ASSERT_TRUE(run(draft, &*teacher));
  EXPECT_LT(evaluate(small, draft, stream_, 100, 1), 0.4);
  std::filesystem::resize_file(path, 1000);
  EXPECT_FALSE(Teacher::open(path, small.context, small.vocab));
  EXPECT_FALSE(Teacher::open(folder_ + "/missing.bin", small.context, small.vocab));
}

TEST_F(Training, the_decoder_with_its_cache_computes_what_the_network_computes) {
  Model model{small, fresh(), {}};
  Network<float> network(small, small.context);
  const auto text = std::span(stream_).first(20);
  network.forward(model.parameters.data(), text);
  Decoder decoder(model, 24);
  decoder.append(text.first(7));
  for (std::size_t i = 7; i < text.size(); ++i) {
    const std::span<const float> logits = decoder.append(text.subspan(i, 1));
    for (std::size_t v = 0; v < logits.size(); ++v) ASSERT_NEAR(logits[v], network.logits()[i * 300 + v], 1e-4f);
  }
}

}  // namespace
}  // namespace dmprof::train
