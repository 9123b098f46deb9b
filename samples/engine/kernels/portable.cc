// The kernels in plain C++: for CPUs without AVX2, and what the vector kernels are tested against.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "samples/engine/kernels/half.h"
#include "samples/engine/kernels/kernels.h"

namespace dmengine {

namespace {

constexpr uint32_t lanes = 8;
constexpr uint32_t q8_block = 32;
constexpr uint32_t q8_block_bytes = 34;

// Sums in `lanes` independent chains, which a compiler can keep in vector registers without reordering anything.
template <class Left>
float dot(Left left, const float* right, uint32_t count) {
  float sums[lanes] = {};
  uint32_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (uint32_t lane = 0; lane < lanes; ++lane) sums[lane] += left(i + lane) * right[i + lane];
  }
  for (; i < count; ++i) sums[i % lanes] += left(i) * right[i];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

float element_f32(const std::byte* row, uint32_t i) { return load<float>(row + size_t{4} * i); }
float element_f16(const std::byte* row, uint32_t i) { return half_to_float(load<uint16_t>(row + size_t{2} * i)); }

template <float (*Element)(const std::byte*, uint32_t)>
void matmul_float(const std::byte* weights, size_t row_bytes, uint32_t rows, const Activations& x, float* out,
                  size_t out_stride) {
  for (uint32_t row = 0; row < rows; ++row) {
    const std::byte* w = weights + row * row_bytes;
    for (uint32_t token = 0; token < x.count; ++token) {
      out[token * out_stride + row] =
          dot([w](uint32_t i) { return Element(w, i); }, x.values + size_t{token} * x.width, x.width);
    }
  }
}

float dot_q8_0(const std::byte* row, const int8_t* quants, const float* scales, uint32_t width) {
  float sum = 0.0F;
  for (uint32_t block = 0; block < width / q8_block; ++block) {
    const std::byte* from = row + size_t{block} * q8_block_bytes;
    int32_t product = 0;
    for (uint32_t i = 0; i < q8_block; ++i) {
      product += static_cast<int32_t>(load<int8_t>(from + 2 + i)) * quants[block * q8_block + i];
    }
    sum += static_cast<float>(product) * (half_to_float(load<uint16_t>(from)) * scales[block * scale_copies]);
  }
  return sum;
}

void matmul_q8_0(const std::byte* weights, size_t row_bytes, uint32_t rows, const Activations& x, float* out,
                 size_t out_stride) {
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t token = 0; token < x.count; ++token) {
      out[token * out_stride + row] = dot_q8_0(weights + row * row_bytes, x.quants + size_t{token} * x.width,
                                               x.scales + size_t{token} * (x.width / q8_block) * scale_copies, x.width);
    }
  }
}

void quantize(const float* values, uint32_t width, int8_t* quants, float* scales) {
  for (uint32_t block = 0; block < width / q8_block; ++block) {
    const float* from = values + size_t{block} * q8_block;
    float largest = 0.0F;
    for (uint32_t i = 0; i < q8_block; ++i) largest = std::max(largest, std::fabs(from[i]));
    const float inverse = largest > 1e-30F ? 64.0F / largest : 0.0F;
    std::fill_n(scales + size_t{block} * scale_copies, scale_copies, largest / 64.0F);
    for (uint32_t i = 0; i < q8_block; ++i) {
      const float scaled = std::nearbyint(from[i] * inverse);
      // Written so that NaN (from damaged weights) fails the first test: converting it would be undefined.
      quants[block * q8_block + i] = static_cast<int8_t>(scaled > -64.0F ? std::min(scaled, 64.0F) : -64.0F);
    }
  }
}

void rms_norm(const float* values, const float* weight, uint32_t width, float epsilon, float* out) {
  const float squares = dot([values](uint32_t i) { return values[i]; }, values, width);
  const float factor = 1.0F / std::sqrt(squares / static_cast<float>(width) + epsilon);
  for (uint32_t i = 0; i < width; ++i) out[i] = values[i] * factor * weight[i];
}

void swiglu(float* gate, const float* up, uint32_t width) {
  for (uint32_t i = 0; i < width; ++i) gate[i] = gate[i] / (1.0F + std::exp(-gate[i])) * up[i];
}

void to_half(const float* values, uint32_t width, uint16_t* out) {
  std::transform(values, values + width, out, float_to_half);
}

template <size_t ElementBytes, float (*Element)(const std::byte*, uint32_t)>
void attention(const AttentionTask& task) {
  const size_t row_bytes = size_t{task.head_dim} * ElementBytes;
  for (uint32_t head = 0; head < task.heads; ++head) {
    const float* query = task.query + size_t{head} * task.head_dim;
    float* out = task.out + size_t{head} * task.head_dim;
    float largest = -INFINITY;
    for (uint32_t position = 0; position < task.positions; ++position) {
      const std::byte* key = task.keys + position * row_bytes;
      const float score = dot([key](uint32_t i) { return Element(key, i); }, query, task.head_dim) * task.scale;
      task.scratch[position] = score;
      largest = std::max(largest, score);
    }
    float total = 0.0F;
    for (uint32_t position = 0; position < task.positions; ++position) {
      task.scratch[position] = std::exp(task.scratch[position] - largest);
      total += task.scratch[position];
    }
    std::fill(out, out + task.head_dim, 0.0F);
    for (uint32_t position = 0; position < task.positions; ++position) {
      const std::byte* value = task.values + position * row_bytes;
      for (uint32_t i = 0; i < task.head_dim; ++i) out[i] += task.scratch[position] * Element(value, i);
    }
    for (uint32_t i = 0; i < task.head_dim; ++i) out[i] /= total;
  }
}

}  // namespace

const Kernels& portable_kernels() {
  static const Kernels table{
      .name = "portable",
      .matmul_f32 = matmul_float<element_f32>,
      .matmul_f16 = matmul_float<element_f16>,
      .matmul_q8_0 = matmul_q8_0,
      .quantize = quantize,
      .rms_norm = rms_norm,
      .swiglu = swiglu,
      .to_half = to_half,
      .attention_f32 = attention<4, element_f32>,
      .attention_f16 = attention<2, element_f16>,
  };
  return table;
}

}  // namespace dmengine
