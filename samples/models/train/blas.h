// Row-major matrix products in either precision. Leading dimensions are explicit: operands are often slices of wider
// arrays.
#pragma once

#include <cblas.h>

namespace dmprof::train {

enum class Op { plain, transposed };

inline CBLAS_TRANSPOSE cblas(Op op) { return op == Op::plain ? CblasNoTrans : CblasTrans; }

// c[m x n] = alpha * op(a) op(b) + beta * c, with op(a) m x k and op(b) k x n.
inline void gemm(Op ta, Op tb, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
                 float beta, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, cblas(ta), cblas(tb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
inline void gemm(Op ta, Op tb, int m, int n, int k, double alpha, const double* a, int lda, const double* b, int ldb,
                 double beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, cblas(ta), cblas(tb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

}  // namespace dmprof::train
