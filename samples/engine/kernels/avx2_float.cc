// F32 and F16 matrix products, and the small per-token functions.
#include "samples/engine/kernels/avx2.h"
#include "samples/engine/kernels/avx2_common.h"

namespace dmengine::avx2 {

namespace {

constexpr uint32_t max_columns = 6;

struct F32 {
  static constexpr size_t bytes = 4;
  static __m256 load(const std::byte* from) { return _mm256_loadu_ps(reinterpret_cast<const float*>(from)); }
  static __m256 load_first(const std::byte* from, uint32_t count) {
    return _mm256_maskload_ps(reinterpret_cast<const float*>(from), first_lanes(count));
  }
};

struct F16 {
  static constexpr size_t bytes = 2;
  static __m256 load(const std::byte* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static __m256 load_first(const std::byte* from, uint32_t count) {
    alignas(16) uint16_t halves[8] = {};
    __builtin_memcpy(halves, from, bytes * count);
    return _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(halves)));
  }
};

// Rows x Columns dot products at once, one accumulator each: enough of them are in flight to hide the latency. The rows
// are row_distance bytes apart, their results out_distance. Every loop over the accumulators is unrolled: one that is
// not would make the compiler keep them in memory.
template <class Type, int Rows, int Columns>
inline void tile(const std::byte* weights, size_t row_distance, const float* x, uint32_t width, float* out,
                 size_t out_distance, size_t out_stride) {
  __m256 sum[Rows][Columns];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (int c = 0; c < Columns; ++c) sum[r][c] = _mm256_setzero_ps();
  }
  const auto step = [&](auto load_weights, auto load_values, uint32_t at) {
    __m256 w[Rows];
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r)
      w[r] = load_weights(weights + static_cast<size_t>(r) * row_distance + Type::bytes * at);
#pragma GCC unroll 8
    for (int c = 0; c < Columns; ++c) {
      const __m256 v = load_values(x + static_cast<size_t>(c) * width + at);
#pragma GCC unroll 8
      for (int r = 0; r < Rows; ++r) sum[r][c] = _mm256_fmadd_ps(w[r], v, sum[r][c]);
    }
  };
  uint32_t i = 0;
  for (; i + 8 <= width; i += 8) {
    step([](const std::byte* from) { return Type::load(from); },
         [](const float* from) { return _mm256_loadu_ps(from); }, i);
  }
  if (i < width) {
    const uint32_t rest = width - i;
    step([rest](const std::byte* from) { return Type::load_first(from, rest); },
         [rest](const float* from) { return _mm256_maskload_ps(from, first_lanes(rest)); }, i);
  }
#pragma GCC unroll 8
  for (int c = 0; c < Columns; ++c) {
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      out[static_cast<size_t>(c) * out_stride + static_cast<size_t>(r) * out_distance] = horizontal_sum(sum[r][c]);
    }
  }
}

// Each of the streams runs through rows that follow each other in memory, as far as the piece goes: long streams are
// what the hardware's prefetching is good at.
template <class Type, int Rows, int Columns>
void columns(const std::byte* weights, size_t row_bytes, uint32_t rows, const float* x, uint32_t width, float* out,
             size_t out_stride) {
  const uint32_t length = rows / Rows;
  for (uint32_t i = 0; i < length; ++i) {
    tile<Type, Rows, Columns>(weights + i * row_bytes, length * row_bytes, x, width, out + i, length, out_stride);
  }
  if constexpr (Rows > 1) {
    const uint32_t done = length * Rows;
    columns<Type, 1, Columns>(weights + done * row_bytes, row_bytes, rows - done, x, width, out + done, out_stride);
  }
}

using Columns = void (*)(const std::byte*, size_t, uint32_t, const float*, uint32_t, float*, size_t);

template <class Type>
void matmul(const std::byte* weights, size_t row_bytes, uint32_t rows, const Activations& x, float* out,
            size_t out_stride) {
  static constexpr Columns by_count[max_columns] = {columns<Type, 8, 1>, columns<Type, 4, 2>, columns<Type, 4, 3>,
                                                    columns<Type, 2, 4>, columns<Type, 2, 5>, columns<Type, 2, 6>};
  const uint32_t groups = (x.count + max_columns - 1) / max_columns;
  // With several groups of columns, few rows at a time: the later groups find them in the first-level cache.
  const uint32_t rows_at_once = groups > 1 ? 4 : rows;
  for (uint32_t row = 0; row < rows; row += rows_at_once) {
    const uint32_t count = rows - row < rows_at_once ? rows - row : rows_at_once;
    for (uint32_t group = 0, column = 0; group < groups; ++group) {
      const uint32_t width = (x.count - column + groups - group - 1) / (groups - group);
      by_count[width - 1](weights + row * row_bytes, row_bytes, count, x.values + size_t{column} * x.width, x.width,
                          out + column * out_stride + row, out_stride);
      column += width;
    }
  }
}

}  // namespace

void matmul_f32(const std::byte* weights, size_t row_bytes, uint32_t rows, const Activations& x, float* out,
                size_t out_stride) {
  matmul<F32>(weights, row_bytes, rows, x, out, out_stride);
}

void matmul_f16(const std::byte* weights, size_t row_bytes, uint32_t rows, const Activations& x, float* out,
                size_t out_stride) {
  matmul<F16>(weights, row_bytes, rows, x, out, out_stride);
}

void rms_norm(const float* values, const float* weight, uint32_t width, float epsilon, float* out) {
  __m256 sum = _mm256_setzero_ps();
  uint32_t i = 0;
  for (; i + 8 <= width; i += 8) {
    const __m256 v = _mm256_loadu_ps(values + i);
    sum = _mm256_fmadd_ps(v, v, sum);
  }
  if (i < width) {
    const __m256 v = _mm256_maskload_ps(values + i, first_lanes(width - i));
    sum = _mm256_fmadd_ps(v, v, sum);
  }
  const float mean = horizontal_sum(sum) / static_cast<float>(width);
  const float factor = 1.0F / _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(mean + epsilon)));
  for (i = 0; i < width; ++i) out[i] = values[i] * factor * weight[i];
}

void swiglu(float* gate, const float* up, uint32_t width) {
  const auto step = [](__m256 g, __m256 u) {
    const __m256 e = exponential(_mm256_sub_ps(_mm256_setzero_ps(), g));
    return _mm256_mul_ps(_mm256_div_ps(g, _mm256_add_ps(_mm256_set1_ps(1.0F), e)), u);
  };
  uint32_t i = 0;
  for (; i + 8 <= width; i += 8) {
    _mm256_storeu_ps(gate + i, step(_mm256_loadu_ps(gate + i), _mm256_loadu_ps(up + i)));
  }
  if (i < width) {
    const __m256i mask = first_lanes(width - i);
    _mm256_maskstore_ps(gate + i, mask, step(_mm256_maskload_ps(gate + i, mask), _mm256_maskload_ps(up + i, mask)));
  }
}

void to_half(const float* values, uint32_t width, uint16_t* out) {
  for (uint32_t i = 0; i < width; ++i) {
    const __m128i half = _mm_cvtps_ph(_mm_set_ss(values[i]), _MM_FROUND_TO_NEAREST_INT);
    out[i] = static_cast<uint16_t>(_mm_extract_epi16(half, 0));
  }
}

}  // namespace dmengine::avx2
