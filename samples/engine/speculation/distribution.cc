#include "samples/engine/speculation/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dmengine {
namespace {

constexpr float lowest = -std::numeric_limits<float>::infinity();

float ordered(float logit) { return std::isnan(logit) ? lowest : logit; }

}  // namespace

Token argmax(std::span<const float> logits) {
  std::size_t best = 0;
  float top = ordered(logits[0]);
  for (std::size_t i = 1; i < logits.size(); ++i) {
    if (logits[i] > top) {  // false for NaN and for equals: the lowest id stays
      top = logits[i];
      best = i;
    }
  }
  return static_cast<Token>(best);
}

void Transformer::apply(std::span<const float> logits, const Sampling& sampling, std::vector<float>& out) {
  out.assign(logits.size(), 0.0F);
  const auto best = static_cast<std::size_t>(argmax(logits));
  const float top = ordered(logits[best]);
  if (!std::isfinite(top)) {  // one infinite logit, or none finite: the maximum takes all
    out[best] = 1.0F;
    return;
  }
  const float inverse = 1.0F / std::max(sampling.temperature, std::numeric_limits<float>::min());
  double total = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    out[i] = std::exp((ordered(logits[i]) - top) * inverse);
    total += out[i];
  }
  if (sampling.top_p < 1.0F) {
    keep_top(sampling.top_p, out, total);
    total = 0;
    for (const float weight : out) total += weight;
  }
  const double scale = 1.0 / total;
  for (float& weight : out) weight = static_cast<float>(weight * scale);
}

void Transformer::keep_top(float top_p, std::vector<float>& p, double total) {
  heap_.clear();
  for (std::uint32_t i = 0; i < p.size(); ++i) {
    if (p[i] > 0) heap_.push_back(i);
  }
  const auto below = [&p](std::uint32_t a, std::uint32_t b) { return p[a] != p[b] ? p[a] < p[b] : a > b; };
  std::make_heap(heap_.begin(), heap_.end(), below);
  auto end = heap_.end();
  double kept = 0;
  while (end != heap_.begin() && (end == heap_.end() || kept < static_cast<double>(top_p) * total)) {
    std::pop_heap(heap_.begin(), end, below);
    --end;
    kept += p[*end];
  }
  for (auto it = heap_.begin(); it != end; ++it) p[*it] = 0.0F;
}

Token draw(std::span<const float> weights, double u) {
  double total = 0;
  for (const float weight : weights) total += weight;
  const double goal = u * total;
  double sum = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    sum += weights[i];
    last = i;
    if (sum > goal) break;
  }
  return static_cast<Token>(last);  // rounding may leave the goal just above the sum: the last possible token
}

}  // namespace dmengine
