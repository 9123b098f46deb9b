// Losses over a window's logits. Each returns the mean loss in nats and replaces the logits by d(mean loss)/d(logits) *
// weight.
#pragma once

#include <cstdint>
#include <span>

#include "samples/models/train/network.h"

namespace dmprof::train {

// Cross entropy against the next token of the text.
template <class Real>
double cross_entropy(Real* logits, int vocab, std::span<const Token> targets, Real weight);

// Mean cross entropy alone; the logits are left as they are.
double cross_entropy_only(const float* logits, int vocab, std::span<const Token> targets);

// Distillation: cross entropy against the teacher's distribution (the forward KL divergence plus the teacher's
// entropy). teacher: rows x vocab probabilities as IEEE half precision.
double distillation(float* logits, int vocab, int rows, const std::uint16_t* teacher, float weight);

// Softmax of each row, stored as half precision.
void softmax_to_half(const float* logits, int vocab, int rows, std::uint16_t* out);

}  // namespace dmprof::train
