// A seeded generator whose numbers are the same on every machine and compiler (std:: distributions are not).
#pragma once

#include <array>
#include <cstdint>

namespace dmprof::workload {

// xoshiro256** of Blackman and Vigna, seeded through splitmix64. Not thread-safe; cheap to copy.
class Random {
 public:
  explicit Random(std::uint64_t seed);

  std::uint64_t next();
  double uniform();                                           // [0, 1), 53 bits
  std::int64_t between(std::int64_t low, std::int64_t high);  // inclusive; low <= high
  double exponential(double mean);                            // mean 0 gives 0
  double normal();                                            // mean 0, deviation 1

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace dmprof::workload
