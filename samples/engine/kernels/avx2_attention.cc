// Attention of one token over one key/value head, for the query heads that share it.
#include "samples/engine/kernels/avx2.h"
#include "samples/engine/kernels/avx2_common.h"

namespace dmengine::avx2 {

namespace {

struct F32 {
  static constexpr size_t bytes = 4;
  static __m256 load(const std::byte* from) { return _mm256_loadu_ps(reinterpret_cast<const float*>(from)); }
};
struct F16 {
  static constexpr size_t bytes = 2;
  static __m256 load(const std::byte* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
};

// Scores of one query head: scratch[position] = scale * dot(query, key). Returns the largest.
template <class Type>
float scores(const AttentionTask& task, const float* query) {
  const size_t row_bytes = task.head_dim * Type::bytes;
  float largest = -__builtin_inff();
  for (uint32_t position = 0; position < task.positions; ++position) {
    const std::byte* key = task.keys + position * row_bytes;
    __m256 sum = _mm256_setzero_ps();
    for (uint32_t i = 0; i < task.head_dim; i += 8) {
      sum = _mm256_fmadd_ps(Type::load(key + Type::bytes * i), _mm256_loadu_ps(query + i), sum);
    }
    const float score = horizontal_sum(sum) * task.scale;
    task.scratch[position] = score;
    largest = score > largest ? score : largest;
  }
  return largest;
}

// scratch = exp(scratch - largest); returns the sum. Lanes past the end hold -infinity and add nothing.
float exponentials(float* scratch, uint32_t positions, float largest) {
  const uint32_t padded = (positions + 7) / 8 * 8;
  for (uint32_t position = positions; position < padded; ++position) scratch[position] = -__builtin_inff();
  __m256 total = _mm256_setzero_ps();
  for (uint32_t position = 0; position < padded; position += 8) {
    const __m256 weight = exponential(_mm256_sub_ps(_mm256_loadu_ps(scratch + position), _mm256_set1_ps(largest)));
    _mm256_storeu_ps(scratch + position, weight);
    total = _mm256_add_ps(total, weight);
  }
  return horizontal_sum(total);
}

// 8 x Chunks dimensions of the weighted sum of values: a cache line of half-precision values at a time when Chunks
// is 4.
template <class Type, int Chunks>
void weighted_sum(const AttentionTask& task, uint32_t first_dim, float inverse_total, float* out) {
  const size_t row_bytes = task.head_dim * Type::bytes;
  __m256 sum[Chunks];
  for (int c = 0; c < Chunks; ++c) sum[c] = _mm256_setzero_ps();
  for (uint32_t position = 0; position < task.positions; ++position) {
    const __m256 weight = _mm256_broadcast_ss(task.scratch + position);
    const std::byte* value = task.values + position * row_bytes + Type::bytes * first_dim;
    for (int c = 0; c < Chunks; ++c) {
      sum[c] = _mm256_fmadd_ps(weight, Type::load(value + Type::bytes * 8 * static_cast<size_t>(c)), sum[c]);
    }
  }
  for (int c = 0; c < Chunks; ++c) {
    _mm256_storeu_ps(out + first_dim + 8 * c, _mm256_mul_ps(sum[c], _mm256_set1_ps(inverse_total)));
  }
}

template <class Type>
void attention(const AttentionTask& task) {
  for (uint32_t head = 0; head < task.heads; ++head) {
    const size_t at = size_t{head} * task.head_dim;
    const float largest = scores<Type>(task, task.query + at);
    const float inverse_total = 1.0F / exponentials(task.scratch, task.positions, largest);
    uint32_t dim = 0;
    for (; dim + 32 <= task.head_dim; dim += 32) weighted_sum<Type, 4>(task, dim, inverse_total, task.out + at);
    for (; dim < task.head_dim; dim += 8) weighted_sum<Type, 1>(task, dim, inverse_total, task.out + at);
  }
}

}  // namespace

// Heads whose size is not a multiple of 8 are rare enough to be left to the portable code.
void attention_f32(const AttentionTask& task) {
  if (task.head_dim % 8 != 0) return portable_kernels().attention_f32(task);
  attention<F32>(task);
}

void attention_f16(const AttentionTask& task) {
  if (task.head_dim % 8 != 0) return portable_kernels().attention_f16(task);
  attention<F16>(task);
}

}  // namespace dmengine::avx2
