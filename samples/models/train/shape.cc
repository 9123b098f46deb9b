#include "samples/models/train/shape.h"

#include <cmath>
#include <random>

namespace dmprof::train {

Layout::Layout(const Shape& shape) {
  auto add = [this](std::string name, int rows, int cols) {
    tensors.push_back(TensorSlot{std::move(name), total, rows, cols});
    total += tensors.back().size();
    return tensors.back().offset;
  };
  embedding = add("token_embd.weight", shape.vocab, shape.dim);
  for (int i = 0; i < shape.layers; ++i) {
    const std::string prefix = "blk." + std::to_string(i) + ".";
    LayerOffsets layer{};
    layer.attn_norm = add(prefix + "attn_norm.weight", 0, shape.dim);
    layer.qkv = add(prefix + "attn_q.weight", shape.dim, shape.dim);
    add(prefix + "attn_k.weight", shape.kv_dim(), shape.dim);
    add(prefix + "attn_v.weight", shape.kv_dim(), shape.dim);
    layer.attn_out = add(prefix + "attn_output.weight", shape.dim, shape.dim);
    layer.ffn_norm = add(prefix + "ffn_norm.weight", 0, shape.dim);
    layer.gate_up = add(prefix + "ffn_gate.weight", shape.ffn, shape.dim);
    add(prefix + "ffn_up.weight", shape.ffn, shape.dim);
    layer.down = add(prefix + "ffn_down.weight", shape.dim, shape.ffn);
    layers.push_back(layer);
  }
  final_norm = add("output_norm.weight", 0, shape.dim);
}

void initialise(const Shape& shape, const Layout& layout, unsigned seed, float* parameters) {
  std::mt19937 generator(seed);
  const double residual = 1.0 / std::sqrt(2.0 * shape.layers);
  for (const TensorSlot& slot : layout.tensors) {
    float* values = parameters + slot.offset;
    if (slot.is_norm()) {
      for (std::size_t i = 0; i < slot.size(); ++i) values[i] = 1.0f;
      continue;
    }
    double deviation = 0.5 / std::sqrt(static_cast<double>(slot.cols));
    if (slot.name == "token_embd.weight") deviation = 0.02;
    if (slot.name.ends_with("attn_output.weight") || slot.name.ends_with("ffn_down.weight")) deviation *= residual;
    std::normal_distribution<float> normal(0.0f, static_cast<float>(deviation));
    for (std::size_t i = 0; i < slot.size(); ++i) values[i] = normal(generator);
  }
}

}  // namespace dmprof::train
