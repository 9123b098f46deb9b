#include "samples/models/train/decoder.h"

#include <algorithm>
#include <cmath>

#include "samples/models/train/blas.h"

namespace dmprof::train {
namespace {

void linear(const float* x, const float* w, int rows, int in, int out, float beta, float* y) {
  gemm(Op::plain, Op::transposed, rows, out, in, 1.0f, x, in, w, in, beta, y, out);
}

}  // namespace

Decoder::Decoder(const Model& model, int max_positions)
    : model_(model), layout_(model.shape), rope_(model.shape, max_positions) {
  const Shape& shape = model.shape;
  const auto positions = static_cast<std::size_t>(max_positions);
  auto columns = [positions](int n) { return positions * static_cast<std::size_t>(n); };
  keys_.assign(static_cast<std::size_t>(shape.layers), std::vector<float>(columns(shape.kv_dim())));
  values_ = keys_;
  for (auto* v : {&stream_, &normed_, &mixed_}) v->resize(columns(shape.dim));
  rms_.resize(positions);
  qkv_.resize(columns(shape.qkv_dim()));
  gate_up_.resize(columns(2 * shape.ffn));
  activated_.resize(columns(shape.ffn));
  logits_.resize(static_cast<std::size_t>(shape.vocab));
}

void Decoder::attend(std::size_t layer, int rows) {
  const Shape& shape = model_.shape;
  const int width = shape.head_dim();
  const int kv_dim = shape.kv_dim();
  const float scale = 1.0f / std::sqrt(static_cast<float>(width));
  std::vector<float> scores(static_cast<std::size_t>(used_ + rows));
  for (int r = 0; r < rows; ++r) {
    const float* row = qkv_.data() + static_cast<std::ptrdiff_t>(r) * shape.qkv_dim();
    float* key = keys_[layer].data() + static_cast<std::ptrdiff_t>(used_ + r) * kv_dim;
    float* value = values_[layer].data() + static_cast<std::ptrdiff_t>(used_ + r) * kv_dim;
    std::copy_n(row + shape.dim, kv_dim, key);
    std::copy_n(row + shape.dim + kv_dim, kv_dim, value);
    const int seen = used_ + r + 1;
    for (int h = 0; h < shape.heads; ++h) {
      const int column = h / (shape.heads / shape.kv_heads) * width;
      const float* q = row + h * width;
      cblas_sgemv(CblasRowMajor, CblasNoTrans, seen, width, scale, keys_[layer].data() + column, kv_dim, q, 1, 0.0f,
                  scores.data(), 1);
      causal_softmax(scores.data(), seen, 1, seen - 1, seen);
      cblas_sgemv(CblasRowMajor, CblasTrans, seen, width, 1.0f, values_[layer].data() + column, kv_dim, scores.data(),
                  1, 0.0f, mixed_.data() + static_cast<std::ptrdiff_t>(r) * shape.dim + h * width, 1);
    }
  }
}

std::span<const float> Decoder::append(std::span<const Token> tokens) {
  const Shape& shape = model_.shape;
  const float* p = model_.parameters.data();
  const int rows = static_cast<int>(tokens.size());
  const int dim = shape.dim;
  for (std::size_t r = 0; r < tokens.size(); ++r) {
    std::copy_n(p + layout_.embedding + static_cast<std::size_t>(tokens[r]) * static_cast<std::size_t>(dim), dim,
                stream_.begin() + static_cast<std::ptrdiff_t>(r) * dim);
  }
  for (std::size_t l = 0; l < layout_.layers.size(); ++l) {
    const LayerOffsets& at = layout_.layers[l];
    rms_norm(stream_.data(), p + at.attn_norm, rows, dim, shape.norm_eps, normed_.data(), rms_.data());
    linear(normed_.data(), p + at.qkv, rows, dim, shape.qkv_dim(), 0.0f, qkv_.data());
    rope(rope_, qkv_.data(), shape.qkv_dim(), rows, used_, shape.heads + shape.kv_heads, 1);
    attend(l, rows);
    linear(mixed_.data(), p + at.attn_out, rows, dim, dim, 1.0f, stream_.data());
    rms_norm(stream_.data(), p + at.ffn_norm, rows, dim, shape.norm_eps, normed_.data(), rms_.data());
    linear(normed_.data(), p + at.gate_up, rows, dim, 2 * shape.ffn, 0.0f, gate_up_.data());
    swiglu(gate_up_.data(), rows, shape.ffn, activated_.data());
    linear(activated_.data(), p + at.down, rows, shape.ffn, dim, 1.0f, stream_.data());
  }
  const float* last = stream_.data() + static_cast<std::ptrdiff_t>(rows - 1) * dim;
  rms_norm(last, p + layout_.final_norm, 1, dim, shape.norm_eps, normed_.data(), rms_.data());
  linear(normed_.data(), p + layout_.embedding, 1, dim, shape.vocab, 0.0f, logits_.data());
  used_ += rows;
  return logits_;
}

namespace {

// exp((logit - highest) / temperature) of every token, and their sum.
double unnormalised(std::span<const float> logits, double temperature, std::vector<float>& weights) {
  const float highest = *std::max_element(logits.begin(), logits.end());
  const auto scale = static_cast<float>(1.0 / temperature);
  weights.resize(logits.size());
  float sum = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    weights[i] = std::exp((logits[i] - highest) * scale);
    sum += weights[i];
  }
  return static_cast<double>(sum);
}

}  // namespace

double probability(std::span<const float> logits, Token token, double temperature) {
  std::vector<float> weights;
  const double sum = unnormalised(logits, temperature, weights);
  return static_cast<double>(weights[token]) / sum;
}

Generated generate(Decoder& decoder, const std::vector<Token>& prompt, int count, double temperature,
                   std::mt19937_64& random) {
  Generated out;
  std::vector<float> weights;
  decoder.reset();
  std::span<const float> logits = decoder.append(prompt);
  while (true) {
    if (temperature > 0) {
      const double sum = unnormalised(logits, temperature, weights);
      double left = std::uniform_real_distribution<double>(0, sum)(random);
      std::size_t token = 0;
      while (token + 1 < weights.size() && (left -= static_cast<double>(weights[token])) >= 0) ++token;
      out.tokens.push_back(static_cast<Token>(token));
      out.probabilities.push_back(static_cast<double>(weights[token]) / sum);
    } else {
      out.tokens.push_back(static_cast<Token>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
      out.probabilities.push_back(1);
    }
    if (static_cast<int>(out.tokens.size()) == count) return out;
    logits = decoder.append(std::span(out.tokens).last(1));
  }
}

}  // namespace dmprof::train
