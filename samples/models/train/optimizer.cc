#include "samples/models/train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace dmprof::train {
namespace {
constexpr float beta_1 = 0.9f;
constexpr float beta_2 = 0.95f;
constexpr float epsilon = 1e-8f;
constexpr float weight_decay = 0.1f;
}  // namespace

double Schedule::progress(int step) const {
  return std::clamp(static_cast<double>(step - warmup) / std::max(1, steps - warmup), 0.0, 1.0);
}

float Schedule::rate(int step, double progress) const {
  if (step < warmup) return peak * static_cast<float>(step + 1) / static_cast<float>(warmup);
  return peak * static_cast<float>(0.05 + 0.95 * 0.5 * (1.0 + std::cos(std::numbers::pi * progress)));
}

AdamW::AdamW(const Layout& layout) : mean(layout.total), square(layout.total), decay_(layout.total, weight_decay) {
  for (const TensorSlot& slot : layout.tensors) {
    if (slot.is_norm()) std::fill_n(decay_.begin() + static_cast<std::ptrdiff_t>(slot.offset), slot.size(), 0.0f);
  }
}

void AdamW::update(std::size_t begin, std::size_t end, int step, float rate, float gradient_scale,
                   const float* gradients, float* parameters) {
  const float unbias_1 = 1.0f / (1.0f - std::pow(beta_1, static_cast<float>(step + 1)));
  const float unbias_2 = 1.0f / (1.0f - std::pow(beta_2, static_cast<float>(step + 1)));
  for (std::size_t i = begin; i < end; ++i) {
    const float g = gradients[i] * gradient_scale;
    mean[i] = beta_1 * mean[i] + (1.0f - beta_1) * g;
    square[i] = beta_2 * square[i] + (1.0f - beta_2) * g * g;
    const float direction = mean[i] * unbias_1 / (std::sqrt(square[i] * unbias_2) + epsilon);
    parameters[i] -= rate * (direction + decay_[i] * parameters[i]);
  }
}

}  // namespace dmprof::train
