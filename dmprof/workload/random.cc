#include "dmprof/workload/random.h"

#include <bit>
#include <cmath>
#include <numeric>

#include "dmprof/workload/portable_math.h"

namespace dmprof::workload {
namespace {

std::uint64_t hash(std::string_view text) {  // FNV-1a
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return value;
}

}  // namespace

Random::Random(std::uint64_t seed) {
  for (std::uint64_t& word : state_) word = split_mix(seed);
}

Random::Random(std::uint64_t seed, std::string_view stream, std::uint64_t index) {
  std::uint64_t state = mix(mix(seed, hash(stream)), index);
  for (std::uint64_t& word : state_) word = split_mix(state);
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

std::uint64_t Random::below(std::uint64_t bound) {
  if (bound == 0) return 0;
  const std::uint64_t biased =
      (0 - bound) % bound;  // 2^64 mod bound: the lowest numbers that would come once too often
  for (;;) {
    const std::uint64_t number = next();
    if (number >= biased) return number % bound;
  }
}

std::int64_t Random::between(std::int64_t low, std::int64_t high) {
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  const std::uint64_t offset = span == 0 ? next() : below(span);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

double Random::exponential(double mean) { return -mean * portable_log(1 - uniform()); }

double Random::normal() {  // Marsaglia's polar method
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  for (;;) {
    const double u = 2 * uniform() - 1, v = 2 * uniform() - 1;
    const double square = u * u + v * v;
    if (square >= 1 || square == 0) continue;
    const double factor = std::sqrt(-2 * portable_log(square) / square);
    spare_ = v * factor;
    has_spare_ = true;
    return u * factor;
  }
}

double Random::lognormal(double median, double sigma) { return median * portable_exp(sigma * normal()); }

Discrete::Discrete(const std::vector<double>& weights)
    : cut_(weights.size(), 1), probability_(weights), alias_(weights.size()) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto size = static_cast<double>(weights.size());
  std::vector<double> scaled(weights.size());
  std::vector<std::uint32_t> small, large;
  for (std::uint32_t i = 0; i < weights.size(); ++i) {
    probability_[i] = weights[i] / sum;
    scaled[i] = probability_[i] * size;
    alias_[i] = i;
    (scaled[i] < 1 ? small : large).push_back(i);
  }
  while (!small.empty() && !large.empty()) {
    const std::uint32_t poor = small.back(), rich = large.back();
    small.pop_back();
    cut_[poor] = scaled[poor];
    alias_[poor] = rich;
    scaled[rich] -= 1 - scaled[poor];
    if (scaled[rich] < 1) {
      large.pop_back();
      small.push_back(rich);
    }
  }
}

std::size_t Discrete::draw(Random& random) const {
  const std::size_t column = random.below(cut_.size());
  return random.uniform() < cut_[column] ? column : alias_[column];
}

std::vector<double> zipf_weights(std::size_t size, double exponent) {
  std::vector<double> weights(size);
  for (std::size_t i = 0; i < size; ++i) weights[i] = portable_pow(static_cast<double>(i + 1), -exponent);
  return weights;
}

}  // namespace dmprof::workload
