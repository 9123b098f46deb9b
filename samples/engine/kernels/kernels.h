// The arithmetic of the engine, as a table of functions chosen once for the CPU it runs on.
//
// Every function computes each result by one fixed sequence of operations that depends only on that result's own
// inputs: not on how many rows or columns are computed together. That is what makes the engine's output independent of
// batching. The AVX2 table is written with intrinsics in files compiled for that target: Highway 1.0 as the
// distribution ships it lacks the saturating unsigned-by-signed byte product the int8 path is built on. All functions
// are thread-safe and never fail; sizes are checked by the caller.
#pragma once

#include <cstddef>
#include <cstdint>

#include "samples/engine/gguf/tensor_type.h"

namespace dmengine {

// A block's scale is stored this many times in a row: one vector register, loaded as it is.
constexpr uint32_t scale_copies = 8;

// Activations of `count` tokens, `width` values each, as the input of a matrix product. Q8_0 weights take the quantised
// form, the others the floats; only the form that is needed has to be filled.
struct Activations {
  const float* values = nullptr;   // [count][width]
  const int8_t* quants = nullptr;  // [count][width], in [-64, 64]
  const float* scales = nullptr;   // [count][width / 32][scale_copies]
  uint32_t count = 0;
  uint32_t width = 0;
};

// out[token * out_stride + row] = dot(weights row, token's activations)
using MatmulRows = void (*)(const std::byte* weights, size_t row_bytes, uint32_t rows, const Activations& x, float* out,
                            size_t out_stride);

// One query token against the first `positions` rows of one key/value head, for `heads` query heads that share it.
// query and out: [heads][head_dim]; scratch: at least positions rounded up to 8 floats; scale: factor of the scores.
struct AttentionTask {
  const float* query = nullptr;
  const std::byte* keys = nullptr;
  const std::byte* values = nullptr;
  float* scratch = nullptr;
  float* out = nullptr;
  uint32_t heads = 0;
  uint32_t head_dim = 0;
  uint32_t positions = 0;
  float scale = 1.0F;
};
using Attention = void (*)(const AttentionTask& task);

struct Kernels {
  const char* name = "";  // "avx2" or "portable"
  MatmulRows matmul_f32 = nullptr;
  MatmulRows matmul_f16 = nullptr;
  MatmulRows matmul_q8_0 = nullptr;
  // Blocks of 32 values to integers in [-64, 64] and a scale each (stored scale_copies times). Seven bits, not eight:
  // two byte products then fit a 16-bit sum, which saves a quarter of the multiplier work, the limit when several
  // tokens share a pass over the weights.
  void (*quantize)(const float* values, uint32_t width, int8_t* quants, float* scales) = nullptr;
  // out = values / sqrt(mean(values^2) + epsilon) * weight
  void (*rms_norm)(const float* values, const float* weight, uint32_t width, float epsilon, float* out) = nullptr;
  // gate = gate / (1 + exp(-gate)) * up
  void (*swiglu)(float* gate, const float* up, uint32_t width) = nullptr;
  void (*to_half)(const float* values, uint32_t width, uint16_t* out) = nullptr;
  Attention attention_f32 = nullptr;  // by the type of keys and values
  Attention attention_f16 = nullptr;

  MatmulRows matmul(TensorType type) const {
    return type == TensorType::q8_0 ? matmul_q8_0 : type == TensorType::f16 ? matmul_f16 : matmul_f32;
  }
};

const Kernels& portable_kernels();
const Kernels* avx2_kernels();  // nullptr when this CPU or build has none
const Kernels& best_kernels();

}  // namespace dmengine
