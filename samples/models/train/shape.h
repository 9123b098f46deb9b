// The dimensions of a Llama-architecture model and where each tensor lies in one flat parameter array.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dmprof::train {

struct Shape {
  int dim = 0;
  int layers = 0;
  int heads = 0;
  int kv_heads = 0;
  int ffn = 0;
  int vocab = 0;
  int context = 512;
  float rope_base = 10000.0f;
  float norm_eps = 1e-5f;

  int head_dim() const { return dim / heads; }
  int kv_dim() const { return kv_heads * head_dim(); }
  int qkv_dim() const { return dim + 2 * kv_dim(); }
};

// One GGUF tensor: rows x cols, row-major (GGUF's ne0 is cols). A norm has rows == 0 and cols == dim.
struct TensorSlot {
  std::string name;
  std::size_t offset = 0;
  int rows = 0;
  int cols = 0;
  bool is_norm() const { return rows == 0; }
  std::size_t size() const { return static_cast<std::size_t>(rows == 0 ? 1 : rows) * static_cast<std::size_t>(cols); }
};

// Offsets of one layer. Query, key and value matrices are adjacent, and so are gate and up: one product computes each
// group.
struct LayerOffsets {
  std::size_t attn_norm, qkv, attn_out, ffn_norm, gate_up, down;
};

struct Layout {
  explicit Layout(const Shape& shape);
  std::vector<TensorSlot> tensors;
  std::vector<LayerOffsets> layers;
  std::size_t embedding = 0;
  std::size_t final_norm = 0;
  std::size_t total = 0;
};

// Random starting weights: embeddings .02, matrices .5/sqrt(fan-in), the two that write to the residual stream / sqrt(2
// layers).
void initialise(const Shape& shape, const Layout& layout, unsigned seed, float* parameters);

}  // namespace dmprof::train
