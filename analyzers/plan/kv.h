// What a key-value cache takes (FORMULAS.md, "KV bytes per token"; FACTS.md B3, B4). Pure arithmetic, thread-safe.
#pragma once

#include <cstdint>

namespace dmprof::plan {

enum class Attention { mha, gqa, mla };

struct KvShape {
  Attention attention = Attention::mha;
  std::uint64_t layers = 0;
  std::uint64_t heads = 0;     // mha: query heads, each with keys and values of its own
  std::uint64_t kv_heads = 0;  // gqa: heads of keys and values
  std::uint64_t head_size = 0;
  std::uint64_t latent = 0;  // mla: cached elements a token and layer, d_c
  std::uint64_t rope = 0;    // mla: beside it, for the position encoding, d_rope
  double element_bytes = 2;
};

// MHA 2 L n_h d_h b, GQA 2 L n_kv d_h b, MLA L (d_c + d_rope) b.
double kv_bytes_per_token(const KvShape& shape);

// Sequences of `tokens` that fit into `bytes`; 0 for a shape that caches nothing.
double sequences_that_fit(const KvShape& shape, double tokens, double bytes);

}  // namespace dmprof::plan
