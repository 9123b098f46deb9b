// The analytic gradient against central differences, in double, on a model small enough to differentiate by brute
// force.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "samples/models/train/loss.h"
#include "samples/models/train/network.h"

namespace dmprof::train {
namespace {

constexpr Shape tiny{.dim = 8, .layers = 2, .heads = 4, .kv_heads = 2, .ffn = 12, .vocab = 11, .context = 160};

struct TinyModel {
  explicit TinyModel(int tokens) : network(tiny, tiny.context), parameters(network.layout().total) {
    std::mt19937 generator(7);
    std::normal_distribution<double> normal(0.0, 0.4);
    for (const TensorSlot& slot : network.layout().tensors) {
      for (std::size_t i = 0; i < slot.size(); ++i)
        parameters[slot.offset + i] = (slot.is_norm() ? 1.0 : 0.0) + normal(generator);
    }
    for (int i = 0; i <= tokens; ++i) text.push_back(static_cast<Token>(generator() % 11));
  }
  std::span<const Token> input() const { return std::span(text).first(text.size() - 1); }

  double loss_and_gradient(std::vector<double>& gradients) {
    network.forward(parameters.data(), input());
    const double loss = cross_entropy(network.logits(), tiny.vocab, std::span(text).subspan(1), 1.0);
    network.backward(parameters.data(), input(), gradients.data());
    return loss;
  }
  double loss() {
    network.forward(parameters.data(), input());
    return cross_entropy(network.logits(), tiny.vocab, std::span(text).subspan(1), 1.0);
  }

  Network<double> network;
  std::vector<double> parameters;
  std::vector<Token> text;
};

TEST(Gradient, agrees_with_differences_for_every_parameter) {
  TinyModel model(9);
  std::vector<double> gradients(model.parameters.size());
  model.loss_and_gradient(gradients);
  for (std::size_t i = 0; i < model.parameters.size(); ++i) {
    const double kept = model.parameters[i];
    model.parameters[i] = kept + 1e-5;
    const double above = model.loss();
    model.parameters[i] = kept - 1e-5;
    const double below = model.loss();
    model.parameters[i] = kept;
    ASSERT_NEAR(gradients[i], (above - below) / 2e-5, 1e-7) << "parameter " << i;
  }
}

// 150 tokens need two blocks of query rows, the second with keys of the first.
TEST(Gradient, agrees_with_differences_across_attention_blocks) {
  TinyModel model(150);
  std::vector<double> gradients(model.parameters.size());
  model.loss_and_gradient(gradients);
  for (std::size_t i = model.network.layout().layers[0].qkv; i < model.network.layout().layers[0].gate_up; i += 5) {
    const double kept = model.parameters[i];
    model.parameters[i] = kept + 1e-5;
    const double above = model.loss();
    model.parameters[i] = kept - 1e-5;
    const double below = model.loss();
    model.parameters[i] = kept;
    ASSERT_NEAR(gradients[i], (above - below) / 2e-5, 1e-7) << "parameter " << i;
  }
}

TEST(Gradient, adds_up_over_windows) {
  TinyModel model(6);
  std::vector<double> once(model.parameters.size());
  std::vector<double> twice(model.parameters.size());
  model.loss_and_gradient(once);
  model.loss_and_gradient(twice);
  model.loss_and_gradient(twice);
  for (std::size_t i = 0; i < once.size(); ++i) ASSERT_NEAR(2 * once[i], twice[i], 1e-12);
}

TEST(Forward, a_later_token_does_not_change_earlier_logits) {
  TinyModel model(9);
  model.network.forward(model.parameters.data(), model.input());
  const std::vector<double> before(model.network.logits(), model.network.logits() + 8 * tiny.vocab);
  model.text[8] = static_cast<Token>((model.text[8] + 1) % 11);
  model.network.forward(model.parameters.data(), model.input());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i], model.network.logits()[i]);
}

TEST(Distillation, gradient_vanishes_when_the_draft_equals_its_teacher) {
  std::vector<float> logits = {0.5f, -1.0f, 2.0f, 0.0f, 1.5f, -0.5f, 0.25f, 3.0f};
  std::vector<std::uint16_t> teacher(8);
  softmax_to_half(logits.data(), 8, 1, teacher.data());
  const double loss = distillation(logits.data(), 8, 1, teacher.data(), 1.0f);
  EXPECT_GT(loss, 0.5);  // the teacher's own entropy
  for (const float d : logits) EXPECT_NEAR(d, 0.0f, 5e-4f);
}

}  // namespace
}  // namespace dmprof::train
