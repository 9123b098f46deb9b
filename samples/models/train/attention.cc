// Causal attention by blocks of query rows: a block multiplies only the keys it can see, so the upper triangle is never
// computed beyond the block on the diagonal.
#include <algorithm>
#include <cmath>

#include "samples/models/train/blas.h"
#include "samples/models/train/network.h"

namespace dmprof::train {
namespace {

constexpr int block_rows = 128;

// Where a head's slices start inside a row of qkv.
struct HeadColumns {
  HeadColumns(const Shape& shape, int head)
      : q(head * shape.head_dim()),
        k(shape.dim + head / (shape.heads / shape.kv_heads) * shape.head_dim()),
        v(k + shape.kv_dim()) {}
  int q, k, v;
};

}  // namespace

template <class Real>
void Network<Real>::attend(Saved& saved, int rows) {
  const int width = shape_.head_dim();
  const int stride = shape_.qkv_dim();
  const Real scale = Real(1) / std::sqrt(static_cast<Real>(width));
  const std::size_t head_area = static_cast<std::size_t>(window_) * static_cast<std::size_t>(window_);
  for (int h = 0; h < shape_.heads; ++h) {
    const HeadColumns at(shape_, h);
    for (int first = 0; first < rows; first += block_rows) {
      const int count = std::min(block_rows, rows - first);
      const int seen = first + count;
      Real* scores = saved.attention.data() + static_cast<std::size_t>(h) * head_area +
                     static_cast<std::size_t>(first) * static_cast<std::size_t>(window_);
      const Real* qkv = saved.qkv.data();
      const std::ptrdiff_t row = first;
      gemm(Op::plain, Op::transposed, count, seen, width, scale, qkv + row * stride + at.q, stride, qkv + at.k, stride,
           Real(0), scores, window_);
      causal_softmax(scores, window_, count, first, seen);
      gemm(Op::plain, Op::plain, count, width, seen, Real(1), scores, window_, qkv + at.v, stride, Real(0),
           saved.mixed.data() + row * shape_.dim + at.q, shape_.dim);
    }
  }
}

template <class Real>
void Network<Real>::attend_backward(const Saved& saved, const Real* dmixed, int rows) {
  const int width = shape_.head_dim();
  const int stride = shape_.qkv_dim();
  const int dim = shape_.dim;
  const Real scale = Real(1) / std::sqrt(static_cast<Real>(width));
  const std::size_t head_area = static_cast<std::size_t>(window_) * static_cast<std::size_t>(window_);
  const Real* qkv = saved.qkv.data();
  std::fill_n(dqkv_.data(), static_cast<std::size_t>(rows) * static_cast<std::size_t>(stride), Real(0));
  for (int h = 0; h < shape_.heads; ++h) {
    const HeadColumns at(shape_, h);
    for (int first = 0; first < rows; first += block_rows) {
      const int count = std::min(block_rows, rows - first);
      const int seen = first + count;
      const std::ptrdiff_t row = first;
      const Real* weights = saved.attention.data() + static_cast<std::size_t>(h) * head_area +
                            static_cast<std::size_t>(first) * static_cast<std::size_t>(window_);
      const Real* dout = dmixed + row * dim + at.q;
      Real* dscores = dscores_.data();
      gemm(Op::transposed, Op::plain, seen, width, count, Real(1), weights, window_, dout, dim, Real(1),
           dqkv_.data() + at.v, stride);
      gemm(Op::plain, Op::transposed, count, seen, width, Real(1), dout, dim, qkv + at.v, stride, Real(0), dscores,
           window_);
      for (int r = 0; r < count; ++r) {
        const Real* p = weights + static_cast<std::ptrdiff_t>(r) * window_;
        Real* d = dscores + static_cast<std::ptrdiff_t>(r) * window_;
        Real dot = 0;
        for (int i = 0; i < seen; ++i) dot += p[i] * d[i];
        for (int i = 0; i < seen; ++i) d[i] = p[i] * (d[i] - dot) * scale;
      }
      gemm(Op::plain, Op::plain, count, width, seen, Real(1), dscores, window_, qkv + at.k, stride, Real(0),
           dqkv_.data() + row * stride + at.q, stride);
      gemm(Op::transposed, Op::plain, seen, width, count, Real(1), dscores, window_, qkv + row * stride + at.q, stride,
           Real(1), dqkv_.data() + at.k, stride);
    }
  }
}

template void Network<float>::attend(Saved&, int);
template void Network<double>::attend(Saved&, int);
template void Network<float>::attend_backward(const Saved&, const float*, int);
template void Network<double>::attend_backward(const Saved&, const double*, int);

}  // namespace dmprof::train
