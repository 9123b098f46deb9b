// From logits to the distribution that tokens are drawn from. Target and draft go through the same transformation: the
// rejection rule is only lossless when both sides are what sampling would really have used.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dmengine {

using Token = std::int32_t;

struct Sampling {
  float temperature = 0;  // 0 = greedy
  float top_p = 1;        // in (0, 1]; 1 keeps every token
  std::uint64_t seed = 0;

  bool greedy() const { return temperature <= 0; }
};

// The most probable token; of equals the one with the lowest id. NaN counts as minus infinity. `logits` must not be
// empty.
Token argmax(std::span<const float> logits);

// Turns logits into probabilities (temperature first, then the smallest set of most probable tokens that reaches top_p;
// of equals the lowest id enters first). Keeps its scratch memory between calls; one thread at a time.
class Transformer {
 public:
  // sampling.temperature must be positive. `out` gets logits.size() entries that sum to 1.
  void apply(std::span<const float> logits, const Sampling& sampling, std::vector<float>& out);

 private:
  void keep_top(float top_p, std::vector<float>& p, double total);

  std::vector<std::uint32_t> heap_;
};

// Inverse of the cumulative distribution at u in [0, 1); weights need not sum to 1, at least one must be positive.
Token draw(std::span<const float> weights, double u);

}  // namespace dmengine
