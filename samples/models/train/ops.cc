#include "samples/models/train/ops.h"

#include <algorithm>
#include <cmath>

namespace dmprof::train {

template <class Real>
void rms_norm(const Real* x, const Real* weight, int rows, int dim, Real eps, Real* y, Real* inverse_rms) {
  for (int r = 0; r < rows; ++r, x += dim, y += dim) {
    Real sum = 0;
    for (int i = 0; i < dim; ++i) sum += x[i] * x[i];
    const Real scale = Real(1) / std::sqrt(sum / static_cast<Real>(dim) + eps);
    inverse_rms[r] = scale;
    for (int i = 0; i < dim; ++i) y[i] = x[i] * scale * weight[i];
  }
}

template <class Real>
void rms_norm_backward(const Real* x, const Real* weight, const Real* inverse_rms, const Real* dy, int rows, int dim,
                       Real* dx, Real* dweight) {
  for (int r = 0; r < rows; ++r, x += dim, dy += dim, dx += dim) {
    const Real scale = inverse_rms[r];
    Real dot = 0;
    for (int i = 0; i < dim; ++i) dot += dy[i] * weight[i] * x[i];
    const Real pull = dot * scale * scale * scale / static_cast<Real>(dim);
    for (int i = 0; i < dim; ++i) {
      dx[i] += dy[i] * weight[i] * scale - x[i] * pull;
      dweight[i] += dy[i] * x[i] * scale;
    }
  }
}

template <class Real>
RopeTable<Real>::RopeTable(const Shape& shape, int positions) : pairs(shape.head_dim() / 2) {
  for (int position = 0; position < positions; ++position) {
    for (int i = 0; i < pairs; ++i) {
      const double angle = position * std::pow(static_cast<double>(shape.rope_base), -2.0 * i / shape.head_dim());
      cosine.push_back(static_cast<Real>(std::cos(angle)));
      sine.push_back(static_cast<Real>(std::sin(angle)));
    }
  }
}

template <class Real>
void rope(const RopeTable<Real>& table, Real* x, int stride, int rows, int first_position, int heads, int direction) {
  const int pairs = table.pairs;
  for (int r = 0; r < rows; ++r, x += stride) {
    const Real* cosine =
        table.cosine.data() + static_cast<std::size_t>(first_position + r) * static_cast<std::size_t>(pairs);
    const Real* sine =
        table.sine.data() + static_cast<std::size_t>(first_position + r) * static_cast<std::size_t>(pairs);
    for (int h = 0; h < heads; ++h) {
      Real* head = x + h * 2 * pairs;
      for (int i = 0; i < pairs; ++i) {
        const Real s = sine[i] * static_cast<Real>(direction);
        const Real a = head[2 * i];
        const Real b = head[2 * i + 1];
        head[2 * i] = a * cosine[i] - b * s;
        head[2 * i + 1] = a * s + b * cosine[i];
      }
    }
  }
}

template <class Real>
void swiglu(const Real* gate_up, int rows, int ffn, Real* out) {
  for (int r = 0; r < rows; ++r, gate_up += 2 * ffn, out += ffn) {
    for (int i = 0; i < ffn; ++i) {
      const Real gate = gate_up[i];
      out[i] = gate / (Real(1) + std::exp(-gate)) * gate_up[ffn + i];
    }
  }
}

template <class Real>
void swiglu_backward(const Real* gate_up, const Real* dout, int rows, int ffn, Real* dgate_up) {
  for (int r = 0; r < rows; ++r, gate_up += 2 * ffn, dout += ffn, dgate_up += 2 * ffn) {
    for (int i = 0; i < ffn; ++i) {
      const Real gate = gate_up[i];
      const Real sigmoid = Real(1) / (Real(1) + std::exp(-gate));
      const Real silu = gate * sigmoid;
      dgate_up[i] = dout[i] * gate_up[ffn + i] * (sigmoid + silu * (Real(1) - sigmoid));
      dgate_up[ffn + i] = dout[i] * silu;
    }
  }
}

template <class Real>
void causal_softmax(Real* scores, int stride, int rows, int first_row, int columns) {
  for (int r = 0; r < rows; ++r, scores += stride) {
    const int visible = first_row + r + 1;
    Real highest = scores[0];
    for (int i = 1; i < visible; ++i) highest = std::max(highest, scores[i]);
    Real sum = 0;
    for (int i = 0; i < visible; ++i) {
      scores[i] = std::exp(scores[i] - highest);
      sum += scores[i];
    }
    const Real scale = Real(1) / sum;
    for (int i = 0; i < visible; ++i) scores[i] *= scale;
    std::fill(scores + visible, scores + columns, Real(0));
  }
}

#define DMPROF_INSTANTIATE(Real)                                                                               \
  template void rms_norm(const Real*, const Real*, int, int, Real, Real*, Real*);                              \
  template void rms_norm_backward(const Real*, const Real*, const Real*, const Real*, int, int, Real*, Real*); \
  template struct RopeTable<Real>;                                                                             \
  template void rope(const RopeTable<Real>&, Real*, int, int, int, int, int);                                  \
  template void swiglu(const Real*, int, int, Real*);                                                          \
  template void swiglu_backward(const Real*, const Real*, int, int, Real*);                                    \
  template void causal_softmax(Real*, int, int, int, int);
DMPROF_INSTANTIATE(float)
DMPROF_INSTANTIATE(double)
#undef DMPROF_INSTANTIATE

}  // namespace dmprof::train
