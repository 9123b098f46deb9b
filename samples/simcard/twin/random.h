// Random numbers that are the same on every machine: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
#pragma once

#include <cstdint>

#include "samples/simcard/twin/description.h"

namespace dmprof::twin {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }  // [0, 1)
  double draw(const Bins& bins) {
    if (bins.means.empty()) return 0;
    return bins.means[static_cast<std::size_t>(next() % bins.means.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace dmprof::twin
