#include "samples/models/train/network.h"

#include <algorithm>
#include <cmath>

#include "samples/models/train/blas.h"

namespace dmprof::train {
namespace {

std::size_t area(int rows, int cols) { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols); }

// y[rows x out] = x[rows x in] w^T, w stored out x in.
template <class Real>
void linear(const Real* x, const Real* w, int rows, int in, int out, Real beta, Real* y) {
  gemm(Op::plain, Op::transposed, rows, out, in, Real(1), x, in, w, in, beta, y, out);
}

// dw += dy^T x; dx = dy w.
template <class Real>
void linear_backward(const Real* x, const Real* w, const Real* dy, int rows, int in, int out, Real* dx, Real* dw) {
  gemm(Op::transposed, Op::plain, out, in, rows, Real(1), dy, out, x, in, Real(1), dw, in);
  gemm(Op::plain, Op::plain, rows, in, out, Real(1), dy, out, w, in, Real(0), dx, in);
}

}  // namespace

template <class Real>
Network<Real>::Network(const Shape& shape, int window)
    : shape_(shape),
      layout_(shape),
      rope_(shape, window),
      window_(window),
      saved_(static_cast<std::size_t>(shape.layers)) {
  const std::size_t stream = area(window, shape.dim);
  for (Saved& s : saved_) {
    for (auto* v : {&s.input, &s.normed, &s.mixed, &s.middle, &s.ffn_normed}) v->resize(stream);
    for (auto* v : {&s.rms_1, &s.rms_2}) v->resize(static_cast<std::size_t>(window));
    s.qkv.resize(area(window, shape.qkv_dim()));
    s.attention.resize(area(window, window) * static_cast<std::size_t>(shape.heads));
    s.gate_up.resize(area(window, 2 * shape.ffn));
    s.activated.resize(area(window, shape.ffn));
  }
  for (auto* v : {&last_, &last_normed_, &dstream_, &dnormed_, &dmixed_}) v->resize(stream);
  last_rms_.resize(static_cast<std::size_t>(window));
  logits_.resize(area(window, shape.vocab));
  dqkv_.resize(area(window, shape.qkv_dim()));
  dgate_up_.resize(area(window, 2 * shape.ffn));
  dactivated_.resize(area(window, shape.ffn));
  dscores_.resize(area(window, window));
}

template <class Real>
void Network<Real>::forward(const Real* parameters, std::span<const Token> tokens) {
  const int rows = static_cast<int>(tokens.size());
  const int dim = shape_.dim;
  const Real eps = static_cast<Real>(shape_.norm_eps);
  Real* stream = saved_.empty() ? last_.data() : saved_[0].input.data();
  for (std::size_t r = 0; r < tokens.size(); ++r) {
    const Real* row = parameters + layout_.embedding + area(tokens[r], dim);
    std::copy(row, row + dim, stream + r * static_cast<std::size_t>(dim));
  }
  for (std::size_t l = 0; l < saved_.size(); ++l) {
    Saved& s = saved_[l];
    const LayerOffsets& at = layout_.layers[l];
    const std::size_t used = area(rows, dim);
    rms_norm(s.input.data(), parameters + at.attn_norm, rows, dim, eps, s.normed.data(), s.rms_1.data());
    linear(s.normed.data(), parameters + at.qkv, rows, dim, shape_.qkv_dim(), Real(0), s.qkv.data());
    rope(rope_, s.qkv.data(), shape_.qkv_dim(), rows, 0, shape_.heads + shape_.kv_heads, 1);
    attend(s, rows);
    std::copy_n(s.input.data(), used, s.middle.data());
    linear(s.mixed.data(), parameters + at.attn_out, rows, dim, dim, Real(1), s.middle.data());
    rms_norm(s.middle.data(), parameters + at.ffn_norm, rows, dim, eps, s.ffn_normed.data(), s.rms_2.data());
    linear(s.ffn_normed.data(), parameters + at.gate_up, rows, dim, 2 * shape_.ffn, Real(0), s.gate_up.data());
    swiglu(s.gate_up.data(), rows, shape_.ffn, s.activated.data());
    Real* next = l + 1 < saved_.size() ? saved_[l + 1].input.data() : last_.data();
    std::copy_n(s.middle.data(), used, next);
    linear(s.activated.data(), parameters + at.down, rows, shape_.ffn, dim, Real(1), next);
  }
  rms_norm(last_.data(), parameters + layout_.final_norm, rows, dim, eps, last_normed_.data(), last_rms_.data());
  linear(last_normed_.data(), parameters + layout_.embedding, rows, dim, shape_.vocab, Real(0), logits_.data());
}

template <class Real>
void Network<Real>::backward(const Real* parameters, std::span<const Token> tokens, Real* gradients) {
  const int rows = static_cast<int>(tokens.size());
  const int dim = shape_.dim;
  std::fill_n(dstream_.data(), area(rows, dim), Real(0));
  linear_backward(last_normed_.data(), parameters + layout_.embedding, logits_.data(), rows, dim, shape_.vocab,
                  dnormed_.data(), gradients + layout_.embedding);
  rms_norm_backward(last_.data(), parameters + layout_.final_norm, last_rms_.data(), dnormed_.data(), rows, dim,
                    dstream_.data(), gradients + layout_.final_norm);
  for (std::size_t l = saved_.size(); l-- > 0;) {
    const Saved& s = saved_[l];
    const LayerOffsets& at = layout_.layers[l];
    linear_backward(s.activated.data(), parameters + at.down, dstream_.data(), rows, shape_.ffn, dim,
                    dactivated_.data(), gradients + at.down);
    swiglu_backward(s.gate_up.data(), dactivated_.data(), rows, shape_.ffn, dgate_up_.data());
    linear_backward(s.ffn_normed.data(), parameters + at.gate_up, dgate_up_.data(), rows, dim, 2 * shape_.ffn,
                    dnormed_.data(), gradients + at.gate_up);
    rms_norm_backward(s.middle.data(), parameters + at.ffn_norm, s.rms_2.data(), dnormed_.data(), rows, dim,
                      dstream_.data(), gradients + at.ffn_norm);
    linear_backward(s.mixed.data(), parameters + at.attn_out, dstream_.data(), rows, dim, dim, dmixed_.data(),
                    gradients + at.attn_out);
    attend_backward(s, dmixed_.data(), rows);
    rope(rope_, dqkv_.data(), shape_.qkv_dim(), rows, 0, shape_.heads + shape_.kv_heads, -1);
    linear_backward(s.normed.data(), parameters + at.qkv, dqkv_.data(), rows, dim, shape_.qkv_dim(), dnormed_.data(),
                    gradients + at.qkv);
    rms_norm_backward(s.input.data(), parameters + at.attn_norm, s.rms_1.data(), dnormed_.data(), rows, dim,
                      dstream_.data(), gradients + at.attn_norm);
  }
  for (std::size_t r = 0; r < tokens.size(); ++r) {
    Real* row = gradients + layout_.embedding + area(tokens[r], dim);
    const Real* d = dstream_.data() + r * static_cast<std::size_t>(dim);
    for (int i = 0; i < dim; ++i) row[i] += d[i];
  }
}

template class Network<float>;
template class Network<double>;

}  // namespace dmprof::train
