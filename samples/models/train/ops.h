// The element-wise parts of the network, forward and backward, on row-major activations. Rows are positions.
#pragma once

#include <vector>

#include "samples/models/train/shape.h"

namespace dmprof::train {

// y = x / rms(x) * weight; keeps 1/rms of each row for the way back.
template <class Real>
void rms_norm(const Real* x, const Real* weight, int rows, int dim, Real eps, Real* y, Real* inverse_rms);

// Adds d(loss)/dx to dx and d(loss)/dweight to dweight.
template <class Real>
void rms_norm_backward(const Real* x, const Real* weight, const Real* inverse_rms, const Real* dy, int rows, int dim,
                       Real* dx, Real* dweight);

// Cosines and sines of the rotary embedding, [position][head_dim / 2] each.
template <class Real>
struct RopeTable {
  RopeTable(const Shape& shape, int positions);
  std::vector<Real> cosine, sine;
  int pairs;
};

// Rotates interleaved pairs (0,1), (2,3), … of `heads` adjacent heads in each row; direction -1 is the way back.
template <class Real>
void rope(const RopeTable<Real>& table, Real* x, int stride, int rows, int first_position, int heads, int direction);

// out = silu(gate) * up, where each row of gate_up holds gate then up.
template <class Real>
void swiglu(const Real* gate_up, int rows, int ffn, Real* out);
template <class Real>
void swiglu_backward(const Real* gate_up, const Real* dout, int rows, int ffn, Real* dgate_up);

// Causal softmax of a block of score rows in place: row r keeps columns 0..first_row + r, the rest up to `columns`
// becomes 0.
template <class Real>
void causal_softmax(Real* scores, int stride, int rows, int first_row, int columns);

}  // namespace dmprof::train
