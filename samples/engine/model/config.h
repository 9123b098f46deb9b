// The shape of a Llama-architecture decoder, as its GGUF metadata states it.
#pragma once

#include <cstdint>

#include "samples/engine/gguf/gguf.h"

namespace dmengine {

struct ModelConfig {
  uint32_t dim = 0;  // width of the residual stream
  uint32_t layers = 0;
  uint32_t heads = 0;     // query heads
  uint32_t kv_heads = 0;  // key and value heads; divides heads
  uint32_t head_dim = 0;  // dim / heads unless the file says otherwise
  uint32_t ffn = 0;       // width of the feed-forward block
  uint32_t vocab = 0;
  uint32_t context = 0;    // positions the model was trained for
  uint32_t rope_dims = 0;  // leading dimensions of a head that are rotated, in interleaved pairs
  float rope_base = 10000.0F;
  float norm_epsilon = 1e-5F;
  bool tied_output = false;  // the output matrix is the token embedding

  uint32_t kv_dim() const { return kv_heads * head_dim; }
  uint32_t q_dim() const { return heads * head_dim; }
};

// Reads and checks the metadata. bad_input for another architecture, contradictory sizes, or RoPE scaling (not built).
Result<ModelConfig> read_config(const GgufFile& file);

}  // namespace dmengine
