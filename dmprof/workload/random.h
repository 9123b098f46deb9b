// Random numbers that are the same on every machine and compiler (std:: distributions are not). Every use has a named
// stream split from one seed, so that drawing more in one place does not change what another place sees.
//
// Not thread-safe; cheap to copy.
//
// Generator: xoshiro256** (Blackman and Vigna 2018), seeded by SplitMix64 over seed and name.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace dmprof::workload {

inline std::uint64_t split_mix(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// A well-mixed 64-bit hash of two numbers: for choices that must depend on what, not on when.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t state = a;
  state = split_mix(state) ^ b;
  return split_mix(state);
}

class Random {
 public:
  explicit Random(std::uint64_t seed);
  Random(std::uint64_t seed, std::string_view stream, std::uint64_t index = 0);

  std::uint64_t next();
  double uniform();                                           // [0, 1), 53 bits
  std::uint64_t below(std::uint64_t bound);                   // [0, bound), unbiased; 0 for a bound of 0
  std::int64_t between(std::int64_t low, std::int64_t high);  // inclusive, unbiased; low <= high
  bool chance(double probability) { return uniform() < probability; }
  double exponential(double mean);                // mean 0 gives 0
  double normal();                                // mean 0, deviation 1
  double lognormal(double median, double sigma);  // sigma of the logarithm

 private:
  std::array<std::uint64_t, 4> state_;
  double spare_ = 0;
  bool has_spare_ = false;
};

// Draws indices in proportion to weights (Vose's alias method): O(1) a draw.
class Discrete {
 public:
  explicit Discrete(const std::vector<double>& weights);  // not empty, none negative, sum above 0
  std::size_t draw(Random& random) const;
  double probability(std::size_t index) const { return probability_[index]; }
  std::size_t size() const { return cut_.size(); }

 private:
  std::vector<double> cut_, probability_;
  std::vector<std::uint32_t> alias_;
};

// Weights 1 / (rank + 1)^exponent of `size` ranks.
std::vector<double> zipf_weights(std::size_t size, double exponent);

}  // namespace dmprof::workload
