// Forward and backward pass of one window of tokens. Weights and gradients are the caller's flat arrays (see Layout),
// so that several networks, one a thread, share weights and sum gradients. A Network is used by one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "samples/models/train/ops.h"
#include "samples/models/train/shape.h"

namespace dmprof::train {

using Token = std::uint16_t;

template <class Real>
class Network {
 public:
  Network(const Shape& shape, int window);

  // Computes logits() of every position. `tokens` is at most the window long.
  void forward(const Real* parameters, std::span<const Token> tokens);

  // rows x vocab. A loss replaces them by d(loss)/d(logits) before backward().
  Real* logits() { return logits_.data(); }

  // Adds d(loss)/d(parameters) to `gradients`; `tokens` as in the forward pass before.
  void backward(const Real* parameters, std::span<const Token> tokens, Real* gradients);

  const Shape& shape() const { return shape_; }
  const Layout& layout() const { return layout_; }

 private:
  struct Saved {
    std::vector<Real> input, normed, qkv, attention, mixed, middle, ffn_normed, gate_up, activated, rms_1, rms_2;
  };
  void attend(Saved& saved, int rows);
  void attend_backward(const Saved& saved, const Real* dmixed, int rows);

  Shape shape_;
  Layout layout_;
  RopeTable<Real> rope_;
  int window_;
  std::vector<Saved> saved_;
  std::vector<Real> last_, last_normed_, last_rms_, logits_;
  std::vector<Real> dstream_, dnormed_, dqkv_, dmixed_, dgate_up_, dactivated_, dscores_;
};

}  // namespace dmprof::train
