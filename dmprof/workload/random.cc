#include "dmprof/workload/random.h"

#include <cmath>

#include "dmprof/workload/portable_math.h"

namespace dmprof::workload {
namespace {

std::uint64_t splitmix(std::uint64_t& x) {
  x += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = x;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::uint64_t rotated(std::uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }

}  // namespace

Random::Random(std::uint64_t seed) {
  for (std::uint64_t& word : state_) word = splitmix(seed);
}

std::uint64_t Random::next() {
  const std::uint64_t result = rotated(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = rotated(state_[3], 45);
  return result;
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

std::int64_t Random::between(std::int64_t low, std::int64_t high) {
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  const std::uint64_t offset = span == 0 ? next() : next() % span;  // spans are far below 2^64: the bias is nil
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

double Random::exponential(double mean) { return -mean * portable_log(1 - uniform()); }

// Marsaglia's polar method, needs log and sqrt (exact in IEEE 754) only. The second value is dropped: no hidden state.
double Random::normal() {
  for (;;) {
    const double u = 2 * uniform() - 1;
    const double v = 2 * uniform() - 1;
    const double s = u * u + v * v;
    if (s > 0 && s < 1) return u * std::sqrt(-2 * portable_log(s) / s);
  }
}

}  // namespace dmprof::workload
