#include "samples/engine/kernels/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "samples/engine/gguf/gguf.h"
#include "samples/engine/kernels/half.h"
#include "samples/engine/synth/weights.h"

namespace dmengine {
namespace {

std::vector<float> random_values(size_t count, unsigned seed, float deviation = 1.0F) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0.0F, deviation);
  std::vector<float> out(count);
  for (float& value : out) value = normal(engine);
  return out;
}

std::vector<std::byte> random_matrix(TensorType type, uint32_t rows, uint32_t columns) {
  std::vector<std::byte> out, row;
  std::vector<float> values(columns);
  for (uint32_t r = 0; r < rows; ++r) {
    random_row(3, 1, r, 0.1F, values);
    encode_row(type, values, row);
    out.insert(out.end(), row.begin(), row.end());
  }
  return out;
}

// Activations in both forms, owned.
struct Inputs {
  Inputs(const Kernels& kernels, uint32_t count, uint32_t width, unsigned seed = 7)
      : values(random_values(size_t{count} * width, seed)),
        quants(values.size()),
        scales((values.size() / 32 + 1) * scale_copies) {
    if (width % 32 == 0) {
      for (uint32_t t = 0; t < count; ++t) {
        kernels.quantize(values.data() + size_t{t} * width, width, quants.data() + size_t{t} * width,
                         scales.data() + size_t{t} * (width / 32) * scale_copies);
      }
    }
    view = {values.data(), quants.data(), scales.data(), count, width};
  }
  Activations slice(uint32_t first, uint32_t count) const {
    return {view.values + size_t{first} * view.width, view.quants + size_t{first} * view.width,
            view.scales + size_t{first} * (view.width / 32) * scale_copies, count, view.width};
  }

  std::vector<float> values;
  std::vector<int8_t> quants;
  std::vector<float> scales;
  Activations view;
};

std::vector<const Kernels*> tables() {
  std::vector<const Kernels*> out = {&portable_kernels()};
  if (avx2_kernels() != nullptr) out.push_back(avx2_kernels());
  return out;
}

class EachTable : public testing::TestWithParam<const Kernels*> {};
INSTANTIATE_TEST_SUITE_P(Kernels, EachTable, testing::ValuesIn(tables()),
                         [](const auto& param) { return param.param->name; });

TEST(Half, converts_every_half_there_and_back) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = half_to_float(half);
    if (std::isnan(value)) continue;
    ASSERT_EQ(float_to_half(value), half) << bits;
  }
  EXPECT_EQ(half_to_float(0x3C00), 1.0F);
  EXPECT_EQ(half_to_float(0x0001), 0x1p-24F);
  EXPECT_EQ(half_to_float(0xFBFF), -65504.0F);
}

TEST(Half, rounds_to_nearest_even_and_overflows_to_infinity) {
  EXPECT_EQ(float_to_half(1.0F + 0x1p-11F), 0x3C00);  // a tie goes to the even neighbour
  EXPECT_EQ(float_to_half(1.0F + 3 * 0x1p-11F), 0x3C02);
  EXPECT_EQ(float_to_half(65520.0F), 0x7C00);
  EXPECT_EQ(float_to_half(65519.0F), 0x7BFF);
  EXPECT_EQ(float_to_half(0x1p-26F), 0x0000);
  EXPECT_EQ(float_to_half(-0x1p-24F), 0x8001);
  EXPECT_TRUE(std::isnan(half_to_float(float_to_half(std::numeric_limits<float>::quiet_NaN()))));
}

TEST_P(EachTable, quantize_stays_in_range_and_within_half_a_step) {
  const uint32_t width = 96;
  std::vector<float> values = random_values(width, 5);
  for (uint32_t i = 32; i < 64; ++i) values[i] = 0.0F;
  values[70] = -1000.0F;
  std::vector<int8_t> quants(width);
  std::vector<float> scales(width / 32 * scale_copies);
  GetParam()->quantize(values.data(), width, quants.data(), scales.data());
  EXPECT_EQ(scales[scale_copies], 0.0F);
  for (uint32_t i = 0; i < width; ++i) {
    EXPECT_LE(std::abs(quants[i]), 64);
    const float scale = scales[i / 32 * scale_copies];
    EXPECT_NEAR(static_cast<float>(quants[i]) * scale, values[i], 0.5001F * scale);
  }
  EXPECT_EQ(quants[70], -64);
}

TEST_P(EachTable, quantize_keeps_its_range_for_nan_and_infinity) {
  std::vector<float> values(32, 1.0F);
  values[3] = std::numeric_limits<float>::quiet_NaN();
  values[4] = std::numeric_limits<float>::infinity();
  std::vector<int8_t> quants(32);
  std::vector<float> scales(scale_copies);
  GetParam()->quantize(values.data(), 32, quants.data(), scales.data());
  for (const int8_t quant : quants) EXPECT_LE(std::abs(quant), 64);
}

TEST_P(EachTable, int8_products_do_not_overflow_at_their_extremes) {
  // The largest weights against the largest activations, all of one sign: what a 16-bit sum must hold.
  for (const int sign : {1, -1}) {
    std::vector<std::byte> row(34);
    const uint16_t one = 0x3C00;
    std::memcpy(row.data(), &one, 2);
    std::fill(row.begin() + 2, row.end(), static_cast<std::byte>(static_cast<int8_t>(127 * sign)));
    const std::vector<int8_t> quants(32, 64);
    const std::vector<float> scales(scale_copies, 1.0F);
    float out = 0.0F;
    GetParam()->matmul_q8_0(row.data(), 34, 1, {nullptr, quants.data(), scales.data(), 1, 32}, &out, 1);
    EXPECT_EQ(out, static_cast<float>(32 * 127 * 64 * sign));
  }
}

TEST_P(EachTable, products_match_sums_in_double) {
  for (const TensorType type : {TensorType::f32, TensorType::f16, TensorType::q8_0}) {
    for (const uint32_t width : {32U, 96U, 352U}) {
      const uint32_t rows = 13, count = 5;
      const auto matrix = random_matrix(type, rows, width);
      const size_t bytes = row_bytes(type, width);
      const Inputs x(*GetParam(), count, width);
      std::vector<float> out(size_t{rows} * count);
      GetParam()->matmul(type)(matrix.data(), bytes, rows, x.view, out.data(), rows);
      for (uint32_t t = 0; t < count; ++t) {
        for (uint32_t r = 0; r < rows; ++r) {
          double expected = 0, magnitude = 0;
          for (uint32_t i = 0; i < width; ++i) {
            const std::byte* row = matrix.data() + r * bytes;
            double weight = 0, value = static_cast<double>(x.values[size_t{t} * width + i]);
            if (type == TensorType::f32) {
              float stored = 0;
              std::memcpy(&stored, row + size_t{4} * i, 4);
              weight = static_cast<double>(stored);
            } else {
              uint16_t half = 0;
              std::memcpy(&half, type == TensorType::f16 ? row + size_t{2} * i : row + size_t{i / 32} * 34, 2);
              weight = static_cast<double>(half_to_float(half));
              if (type == TensorType::q8_0) {
                weight *= static_cast<double>(static_cast<int8_t>(row[size_t{i / 32} * 34 + 2 + i % 32]));
                value = static_cast<double>(x.quants[size_t{t} * width + i]) *
                        static_cast<double>(x.scales[(size_t{t} * width + i) / 32 * scale_copies]);
              }
            }
            expected += weight * value;
            magnitude += std::fabs(weight * value);
          }
          EXPECT_NEAR(out[size_t{t} * rows + r], expected, 1e-6 * magnitude + 1e-7);
        }
      }
    }
  }
}

// The invariant lossless speculation rests on.
TEST_P(EachTable, a_result_has_the_same_bits_however_many_rows_and_tokens_share_the_call) {
  for (const TensorType type : {TensorType::f32, TensorType::f16, TensorType::q8_0}) {
    for (const uint32_t width : {64U, 160U, type == TensorType::q8_0 ? 96U : 37U}) {
      const uint32_t rows = 21, most = 19;
      const auto matrix = random_matrix(type == TensorType::q8_0 ? type : type, rows, width);
      const size_t bytes = row_bytes(type, width);
      const Inputs x(*GetParam(), most, width);
      const MatmulRows product = GetParam()->matmul(type);
      std::vector<float> alone(size_t{rows} * most);
      for (uint32_t t = 0; t < most; ++t) {
        for (uint32_t r = 0; r < rows; ++r) {
          product(matrix.data() + r * bytes, bytes, 1, x.slice(t, 1), &alone[size_t{t} * rows + r], rows);
        }
      }
      for (uint32_t count = 1; count <= most; ++count) {
        for (const uint32_t first_row : {0U, 1U, 5U}) {
          const uint32_t first_token = most - count;
          std::vector<float> together(size_t{rows} * count, -1.0F);
          product(matrix.data() + first_row * bytes, bytes, rows - first_row, x.slice(first_token, count),
                  together.data() + first_row, rows);
          for (uint32_t t = 0; t < count; ++t) {
            ASSERT_EQ(
                0, std::memcmp(&together[size_t{t} * rows + first_row],
                               &alone[size_t{first_token + t} * rows + first_row], (rows - first_row) * sizeof(float)))
                << to_string(type) << " width " << width << " tokens " << count << " from row " << first_row;
          }
        }
      }
    }
  }
}

TEST_P(EachTable, attention_is_the_softmax_weighted_mean_of_the_values) {
  for (const bool half : {false, true}) {
    for (const uint32_t dim : {8U, 12U, 40U, 64U}) {
      for (const uint32_t positions : {1U, 7U, 8U, 133U}) {
        const uint32_t heads = 3;
        auto keys = random_values(size_t{positions} * dim, 1), values = random_values(size_t{positions} * dim, 2);
        std::vector<uint16_t> half_keys(keys.size()), half_values(values.size());
        portable_kernels().to_half(keys.data(), static_cast<uint32_t>(keys.size()), half_keys.data());
        portable_kernels().to_half(values.data(), static_cast<uint32_t>(values.size()), half_values.data());
        if (half) {
          for (size_t i = 0; i < keys.size(); ++i) {
            keys[i] = half_to_float(half_keys[i]);
            values[i] = half_to_float(half_values[i]);
          }
        }
        const auto query = random_values(size_t{heads} * dim, 3);
        std::vector<float> scratch(positions + 8), out(query.size());
        AttentionTask task;
        task.query = query.data();
        task.keys = half ? reinterpret_cast<const std::byte*>(half_keys.data())
                         : reinterpret_cast<const std::byte*>(keys.data());
        task.values = half ? reinterpret_cast<const std::byte*>(half_values.data())
                           : reinterpret_cast<const std::byte*>(values.data());
        task.scratch = scratch.data();
        task.out = out.data();
        task.heads = heads;
        task.head_dim = dim;
        task.positions = positions;
        task.scale = 0.5F;
        (half ? GetParam()->attention_f16 : GetParam()->attention_f32)(task);
        for (uint32_t h = 0; h < heads; ++h) {
          std::vector<double> weights(positions), expected(dim, 0.0);
          double total = 0;
          for (uint32_t p = 0; p < positions; ++p) {
            double score = 0;
            for (uint32_t i = 0; i < dim; ++i) {
              score += static_cast<double>(query[size_t{h} * dim + i]) * static_cast<double>(keys[size_t{p} * dim + i]);
            }
            total += weights[p] = std::exp(score * 0.5);
          }
          for (uint32_t p = 0; p < positions; ++p) {
            for (uint32_t i = 0; i < dim; ++i)
              expected[i] += weights[p] / total * static_cast<double>(values[size_t{p} * dim + i]);
          }
          for (uint32_t i = 0; i < dim; ++i) EXPECT_NEAR(out[size_t{h} * dim + i], expected[i], 2e-5);
        }
      }
    }
  }
}

TEST_P(EachTable, attention_survives_scores_that_differ_by_hundreds) {
  const std::vector<float> keys = {300, 0, 0, 0, 0, 0, 0, 0, -300, 0, 0, 0, 0, 0, 0, 0},
                           query = {1, 0, 0, 0, 0, 0, 0, 0};
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9, 9, 9, 9};
  std::vector<float> scratch(16), out(8);
  AttentionTask task{query.data(),
                     reinterpret_cast<const std::byte*>(keys.data()),
                     reinterpret_cast<const std::byte*>(values.data()),
                     scratch.data(),
                     out.data(),
                     1,
                     8,
                     2,
                     1.0F};
  GetParam()->attention_f32(task);
  EXPECT_EQ(out, (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_P(EachTable, norm_and_gate_match_their_formulas) {
  for (const uint32_t width : {1U, 8U, 13U, 256U}) {
    const auto values = random_values(width, 11, 3.0F), weight = random_values(width, 12);
    std::vector<float> normed(width), gate = values;
    GetParam()->rms_norm(values.data(), weight.data(), width, 1e-5F, normed.data());
    GetParam()->swiglu(gate.data(), weight.data(), width);
    double squares = 0;
    for (const float value : values) squares += static_cast<double>(value) * static_cast<double>(value);
    for (uint32_t i = 0; i < width; ++i) {
      const double value = static_cast<double>(values[i]), factor = static_cast<double>(weight[i]);
      EXPECT_NEAR(normed[i], value / std::sqrt(squares / width + 1e-5) * factor, 1e-5);
      EXPECT_NEAR(gate[i], value / (1 + std::exp(-value)) * factor, 1e-5);
    }
  }
}

TEST_P(EachTable, gate_of_far_values_is_finite) {
  std::vector<float> gate = {-200.0F, 200.0F, -88.5F, 0.0F};
  const std::vector<float> up(4, 1.0F);
  GetParam()->swiglu(gate.data(), up.data(), 4);
  EXPECT_NEAR(gate[0], 0.0F, 1e-30F);
  EXPECT_EQ(gate[1], 200.0F);
  EXPECT_NEAR(gate[2], 0.0F, 1e-30F);
  EXPECT_EQ(gate[3], 0.0F);
}

}  // namespace
}  // namespace dmengine
