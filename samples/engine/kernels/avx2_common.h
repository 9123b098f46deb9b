// Small vector helpers of the AVX2 kernels. Included only by files compiled for that target; everything has internal
// linkage, so that no AVX2 code can be picked for another file.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace dmengine {
namespace {

inline float horizontal_sum(__m128 v) {
  v = _mm_add_ps(v, _mm_movehl_ps(v, v));
  return _mm_cvtss_f32(_mm_add_ss(v, _mm_movehdup_ps(v)));
}

inline float horizontal_sum(__m256 v) {
  return horizontal_sum(_mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1)));
}

inline float horizontal_max(__m256 v) {
  __m128 m = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  m = _mm_max_ps(m, _mm_movehl_ps(m, m));
  return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}

// The first `count` (< 8) of eight values; the others are 0. The mask keeps memory past the end untouched.
inline __m256i first_lanes(uint32_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

// e^x within 2 ulp for x <= 0 (what softmax needs) and up to 88; below -87.3 it is 0, NaN stays NaN.
inline __m256 exponential(__m256 x) {
  const __m256 low = _mm256_set1_ps(-87.3F), high = _mm256_set1_ps(88.0F);
  const __m256 underflow = _mm256_cmp_ps(x, low, _CMP_LT_OQ);
  // Operand order: min and max return the second operand for NaN.
  const __m256 clamped = _mm256_max_ps(low, _mm256_min_ps(high, x));
  const __m256 whole = _mm256_round_ps(_mm256_mul_ps(clamped, _mm256_set1_ps(1.44269504F)),
                                       _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  // ln 2 in two parts, so that the remainder keeps its bits.
  __m256 rest = _mm256_fnmadd_ps(whole, _mm256_set1_ps(0.693359375F), clamped);
  rest = _mm256_fnmadd_ps(whole, _mm256_set1_ps(-2.12194440e-4F), rest);
  // Taylor terms up to the sixth: the remainder is at most ln(2)/2, the first dropped term 1.2e-7 of the result.
  __m256 sum = _mm256_set1_ps(1.0F / 720);
  sum = _mm256_fmadd_ps(sum, rest, _mm256_set1_ps(1.0F / 120));
  sum = _mm256_fmadd_ps(sum, rest, _mm256_set1_ps(1.0F / 24));
  sum = _mm256_fmadd_ps(sum, rest, _mm256_set1_ps(1.0F / 6));
  sum = _mm256_fmadd_ps(sum, rest, _mm256_set1_ps(0.5F));
  sum = _mm256_fmadd_ps(sum, rest, _mm256_set1_ps(1.0F));
  sum = _mm256_fmadd_ps(sum, rest, _mm256_set1_ps(1.0F));
  const __m256i power = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(whole), _mm256_set1_epi32(127)), 23);
  return _mm256_andnot_ps(underflow, _mm256_mul_ps(sum, _mm256_castsi256_ps(power)));
}

}  // namespace
}  // namespace dmengine
