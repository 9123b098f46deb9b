// The shape of a dense decoder: what its passes read and multiply follows from it. Pure arithmetic, thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "analyzers/plan/kv.h"
#include "dmprof/base/description/document.h"

namespace dmprof::plan {

struct ModelShape {
  std::string name;
  KvShape attention;  // with the layers, the heads and the bytes of a cached element
  std::uint64_t hidden = 0;
  std::uint64_t feed_forward = 0;
  std::uint64_t matrices = 3;  // of a feed-forward block: 3 gated, 2 plain
  std::uint64_t vocabulary = 0;
  bool tied = false;        // the output matrix is the embedding: kept once
  double weight_bytes = 2;  // each, with its share of the scales
};

// Weights that every pass multiplies with: attention, feed-forward, output matrix; an embedding is a look-up. Each
// matrix counts with its sides rounded up to `tile`: 1 for what is read, the hardware's for what its units work on.
// Attention projections, by variant (h hidden, q heads x head size, k KV heads x head size): MHA, GQA 2 h q + 2 h k;
// MLA 2 h q + h (d_c + d_rope) + 2 d_c q (DeepSeek-V2, arXiv 2405.04434).
double multiplied_weights(const ModelShape& shape, std::uint64_t tile = 1);
// All weights, that is the embedding too.
double kept_weights(const ModelShape& shape);

// A description as samples/simcard/models has them: name, layers, hidden, feed_forward, vocabulary, attention: {kind,
// heads, head_size, kv_heads, latent, rotary}; weight_bytes, kv_bytes (2), matrices (3). Errors (bad_input):
// "FILE:LINE: KEY: what, how to mend"; a mixture of experts is one.
Result<ModelShape> read_shape(const Document& document);

}  // namespace dmprof::plan
