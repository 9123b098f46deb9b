#include "samples/models/train/loss.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "samples/models/train/half.h"

namespace dmprof::train {
namespace {

// Replaces a row by its softmax and returns log(sum(exp)) of the old row.
template <class Real>
Real softmax_row(Real* row, int n) {
  Real highest = row[0];
  for (int i = 1; i < n; ++i) highest = std::max(highest, row[i]);
  Real sum = 0;
  for (int i = 0; i < n; ++i) {
    row[i] = std::exp(row[i] - highest);
    sum += row[i];
  }
  const Real scale = Real(1) / sum;
  for (int i = 0; i < n; ++i) row[i] *= scale;
  return highest + std::log(sum);
}

}  // namespace

template <class Real>
double cross_entropy(Real* logits, int vocab, std::span<const Token> targets, Real weight) {
  double total = 0;
  const Real scale = weight / static_cast<Real>(targets.size());
  for (const Token target : targets) {
    const Real picked = logits[target];
    total += static_cast<double>(softmax_row(logits, vocab) - picked);
    logits[target] -= Real(1);
    for (int i = 0; i < vocab; ++i) logits[i] *= scale;
    logits += vocab;
  }
  return total / static_cast<double>(targets.size());
}

template double cross_entropy(float*, int, std::span<const Token>, float);
template double cross_entropy(double*, int, std::span<const Token>, double);

double cross_entropy_only(const float* logits, int vocab, std::span<const Token> targets) {
  std::vector<float> row(static_cast<std::size_t>(vocab));
  double total = 0;
  for (const Token target : targets) {
    std::copy_n(logits, vocab, row.data());
    total += static_cast<double>(softmax_row(row.data(), vocab) - logits[target]);
    logits += vocab;
  }
  return total / static_cast<double>(targets.size());
}

double distillation(float* logits, int vocab, int rows, const std::uint16_t* teacher, float weight) {
  double total = 0;
  const float scale = weight / static_cast<float>(rows);
  std::vector<float> expected(static_cast<std::size_t>(vocab));
  for (int r = 0; r < rows; ++r, logits += vocab, teacher += vocab) {
    float mass = 0;
    float dot = 0;
    half_to_float(teacher, vocab, expected.data());
    for (int i = 0; i < vocab; ++i) {
      mass += expected[static_cast<std::size_t>(i)];
      dot += expected[static_cast<std::size_t>(i)] * logits[i];
    }
    const float log_sum = softmax_row(logits, vocab);
    total += static_cast<double>(log_sum - dot / mass);
    for (int i = 0; i < vocab; ++i) logits[i] = (logits[i] - expected[static_cast<std::size_t>(i)] / mass) * scale;
  }
  return total / rows;
}

void softmax_to_half(const float* logits, int vocab, int rows, std::uint16_t* out) {
  std::vector<float> row(static_cast<std::size_t>(vocab));
  for (int r = 0; r < rows; ++r, logits += vocab, out += vocab) {
    std::copy_n(logits, vocab, row.data());
    softmax_row(row.data(), vocab);
    float_to_half(row.data(), vocab, out);
  }
}

}  // namespace dmprof::train
