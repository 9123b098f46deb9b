#include "samples/engine/synth/weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "samples/engine/kernels/half.h"

namespace dmengine {

namespace {

// SplitMix64 (Steele, Lea, Flood 2014): one addition and a mixing function.
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

constexpr uint64_t step = 0x9E3779B97F4A7C15ULL;

template <class T>
void put(std::byte*& to, T value) {
  std::memcpy(to, &value, sizeof(T));
  to += sizeof(T);
}

void encode_q8_0(std::span<const float> row, std::byte* to) {
  for (size_t first = 0; first < row.size(); first += 32) {
    const auto block = row.subspan(first, 32);
    float largest = 0.0F;
    for (const float value : block) largest = std::max(largest, std::fabs(value));
    const float scale = largest / 127.0F;
    const float inverse = scale > 0.0F ? 1.0F / scale : 0.0F;
    put(to, float_to_half(scale));
    for (const float value : block) put(to, static_cast<int8_t>(std::nearbyint(value * inverse)));
  }
}

}  // namespace

void random_row(uint64_t seed, uint64_t tensor, uint64_t row, float deviation, std::span<float> out) {
  uint64_t state = mix(seed + step) ^ mix((tensor << 40) + row + 1);
  // The sum of four 16-bit uniforms has the standard deviation 65536 / sqrt(3).
  const float scale = deviation * (1.7320508F / 65536.0F);
  for (float& value : out) {
    state += step;
    const uint64_t bits = mix(state);
    const auto sum =
        static_cast<int32_t>((bits & 0xFFFF) + ((bits >> 16) & 0xFFFF) + ((bits >> 32) & 0xFFFF) + (bits >> 48));
    value = static_cast<float>(sum - 2 * 65535) * scale;
  }
}

void encode_row(TensorType type, std::span<const float> row, std::vector<std::byte>& out) {
  if (type == TensorType::f32) {
    out.resize(row.size() * 4);
    std::memcpy(out.data(), row.data(), out.size());
    return;
  }
  if (type == TensorType::q8_0) {
    out.resize(row.size() / 32 * 34);
    encode_q8_0(row, out.data());
    return;
  }
  out.resize(row.size() * 2);
  std::byte* to = out.data();
  for (const float value : row) put(to, float_to_half(value));
}

}  // namespace dmengine
