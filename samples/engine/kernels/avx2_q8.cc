// Q8_0 matrix products: bytes times bytes, two rows of weights in one register.
//
// A weight block is 32 bytes and a half-precision scale. The first 16 bytes of two rows make one register, the last 16
// a second; each is multiplied with the token's bytes (twice the same 16), and because those stay within [-64, 64] the
// two 16-bit products can be added before they are widened: 2 x 2 x 127 x 64 < 2^15. The low half of every accumulator
// then belongs to the first row and the high half to the second, each always by the same operations in the same order.
#include "samples/engine/kernels/avx2.h"
#include "samples/engine/kernels/avx2_common.h"

namespace dmengine::avx2 {

namespace {

constexpr uint32_t block_values = 32;
constexpr uint32_t block_bytes = 34;
constexpr uint32_t max_columns = 8;  // accumulators and operands of one pair of rows fill the register file

inline __m256i two_rows(const std::byte* first, const std::byte* second) {
  const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(first));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), _mm_loadu_si128(reinterpret_cast<const __m128i*>(second)),
                                 1);
}

// The scales of two blocks, four times each. Four bytes are read at each place (a block is longer): a plain load, where
// inserting two bytes would take the vector units twice.
inline __m256 two_scales(const std::byte* first, const std::byte* second) {
  const __m128i both = _mm_unpacklo_epi16(_mm_loadu_si32(first), _mm_loadu_si32(second));
  const __m128i order = _mm_setr_epi8(0, 1, 0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 2, 3);
  return _mm256_cvtph_ps(_mm_shuffle_epi8(both, order));
}

inline __m256i twice(const int8_t* sixteen) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(sixteen)));
}

// Pairs pairs of rows (2 x Pairs streams of weights) times Columns tokens. rows[2p + 1] may repeat rows[2p]. Every loop
// over the accumulators is unrolled: one that is not would make the compiler keep them in memory.
template <int Pairs, int Columns>
inline void tile(const std::byte* const* rows, const Activations& x, uint32_t first_column, float (*out)[2 * Pairs]) {
  const uint32_t blocks = x.width / block_values;
  const int8_t* quants = x.quants + size_t{first_column} * x.width;
  const float* scales = x.scales + size_t{first_column} * blocks * scale_copies;
  __m256 sum[Pairs][Columns];
#pragma GCC unroll 8
  for (int p = 0; p < Pairs; ++p) {
#pragma GCC unroll 8
    for (int c = 0; c < Columns; ++c) sum[p][c] = _mm256_setzero_ps();
  }
  const __m256i ones = _mm256_set1_epi16(1);
  for (uint32_t block = 0; block < blocks; ++block) {
    const size_t at = size_t{block} * block_bytes;
#pragma GCC unroll 8
    for (int p = 0; p < Pairs; ++p) {
      const std::byte* first = rows[2 * p] + at;
      const std::byte* second = rows[2 * p + 1] + at;
      const __m256i front = two_rows(first + 2, second + 2);
      const __m256i back = two_rows(first + 18, second + 18);
      const __m256i front_size = _mm256_abs_epi8(front);
      const __m256i back_size = _mm256_abs_epi8(back);
      const __m256 weight_scale = two_scales(first, second);
#pragma GCC unroll 8
      for (int c = 0; c < Columns; ++c) {
        const size_t column = static_cast<size_t>(c);
        const int8_t* q = quants + column * x.width + size_t{block} * block_values;
        const __m256i product =
            _mm256_add_epi16(_mm256_maddubs_epi16(front_size, _mm256_sign_epi8(twice(q), front)),
                             _mm256_maddubs_epi16(back_size, _mm256_sign_epi8(twice(q + 16), back)));
        const __m256 whole = _mm256_cvtepi32_ps(_mm256_madd_epi16(product, ones));
        const __m256 scale =
            _mm256_mul_ps(weight_scale, _mm256_loadu_ps(scales + (column * blocks + block) * scale_copies));
        sum[p][c] = _mm256_fmadd_ps(whole, scale, sum[p][c]);
      }
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < Pairs; ++p) {
#pragma GCC unroll 8
    for (int c = 0; c < Columns; ++c) {
      out[c][2 * p] = horizontal_sum(_mm256_castps256_ps128(sum[p][c]));
      out[c][2 * p + 1] = horizontal_sum(_mm256_extractf128_ps(sum[p][c], 1));
    }
  }
}

// All rows of the piece for one group of columns that fits the registers. Each stream runs through rows that follow
// each other in memory, as far as the piece goes: long streams are what the hardware's prefetching is good at.
template <int Pairs, int Columns>
void columns(const std::byte* weights, size_t row_bytes, uint32_t first_row, uint32_t rows, const Activations& x,
             uint32_t first_column, float* out, size_t out_stride) {
  constexpr uint32_t step = 2 * Pairs;
  float results[Columns][step];
  const std::byte* streams[step];
  const uint32_t length = (rows - first_row) / step;
  for (uint32_t i = 0; i < length; ++i) {
    for (uint32_t s = 0; s < step; ++s) streams[s] = weights + (first_row + s * length + i) * row_bytes;
    tile<Pairs, Columns>(streams, x, first_column, results);
    for (uint32_t c = 0; c < Columns; ++c) {
      float* to = out + (first_column + c) * out_stride + first_row + i;
      for (uint32_t s = 0; s < step; ++s) to[s * length] = results[c][s];
    }
  }
  const uint32_t row = first_row + length * step;
  if constexpr (Pairs > 1) {
    columns<1, Columns>(weights, row_bytes, row, rows, x, first_column, out, out_stride);
  } else if (row < rows) {
    streams[0] = streams[1] = weights + row * row_bytes;
    tile<1, Columns>(streams, x, first_column, results);
    for (uint32_t c = 0; c < Columns; ++c) out[(first_column + c) * out_stride + row] = results[c][0];
  }
}

using Columns = void (*)(const std::byte*, size_t, uint32_t, uint32_t, const Activations&, uint32_t, float*, size_t);

}  // namespace

void matmul_q8_0(const std::byte* weights, size_t row_bytes, uint32_t rows, const Activations& x, float* out,
                 size_t out_stride) {
  // One token: eight streams of weights, which memory serves faster than one. More tokens: one pair of rows, read once
  // from memory and for further groups of columns from the first-level cache.
  static constexpr Columns by_count[max_columns] = {columns<4, 1>, columns<2, 2>, columns<2, 3>, columns<1, 4>,
                                                    columns<1, 5>, columns<1, 6>, columns<1, 7>, columns<1, 8>};
  if (x.count <= max_columns) {
    if (x.count > 0) by_count[x.count - 1](weights, row_bytes, 0, rows, x, 0, out, out_stride);
    return;
  }
  const uint32_t groups = (x.count + max_columns - 1) / max_columns;
  constexpr uint32_t rows_at_once = 2;
  for (uint32_t row = 0; row < rows; row += rows_at_once) {
    const uint32_t end = row + rows_at_once < rows ? row + rows_at_once : rows;
    for (uint32_t group = 0, column = 0; group < groups; ++group) {
      const uint32_t count = (x.count - column + groups - group - 1) / (groups - group);
      by_count[count - 1](weights, row_bytes, row, end, x, column, out, out_stride);
      column += count;
    }
  }
}

void quantize(const float* values, uint32_t width, int8_t* quants, float* scales) {
  const __m256 sign = _mm256_set1_ps(-0.0F);
  for (uint32_t block = 0; block < width / block_values; ++block) {
    const float* from = values + size_t{block} * block_values;
    __m256 v[4];
    for (int i = 0; i < 4; ++i) v[i] = _mm256_loadu_ps(from + 8 * i);
    __m256 size = _mm256_andnot_ps(sign, v[0]);
    for (int i = 1; i < 4; ++i) size = _mm256_max_ps(size, _mm256_andnot_ps(sign, v[i]));
    const float largest = horizontal_max(size);
    _mm256_storeu_ps(scales + size_t{block} * scale_copies, _mm256_set1_ps(largest / 64.0F));
    const __m256 inverse = _mm256_set1_ps(largest > 1e-30F ? 64.0F / largest : 0.0F);
    __m256i whole[4];
    for (int i = 0; i < 4; ++i) whole[i] = _mm256_cvtps_epi32(_mm256_mul_ps(v[i], inverse));
    // Packing works within halves: the permutation puts the eight groups of four back in order.
    __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(whole[0], whole[1]), _mm256_packs_epi32(whole[2], whole[3]));
    bytes = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    // Damaged weights can give NaN, which converts to the lowest byte: keep the range the products rely on.
    bytes = _mm256_min_epi8(_mm256_max_epi8(bytes, _mm256_set1_epi8(-64)), _mm256_set1_epi8(64));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(quants + size_t{block} * block_values), bytes);
  }
}

}  // namespace dmengine::avx2
