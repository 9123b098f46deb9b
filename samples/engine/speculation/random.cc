#include "samples/engine/speculation/random.h"

namespace dmengine {
namespace {

std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

double uniform(std::uint64_t seed, std::uint64_t request, std::uint64_t position, Draw purpose) {
  std::uint64_t x = mix(seed);
  x = mix(x ^ request);
  x = mix(x ^ position);
  x = mix(x ^ static_cast<std::uint64_t>(purpose));
  return static_cast<double>(x >> 11) * 0x1.0p-53;
}

}  // namespace dmengine
