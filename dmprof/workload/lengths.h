// Distributions of prompt and output lengths, in tokens.
#pragma once

#include <cstdint>

#include "dmprof/base/error.h"
#include "dmprof/workload/random.h"

namespace dmprof::workload {

struct Lengths {
  enum class Kind {
    fixed,      // always `typical`
    uniform,    // least..most
    geometric,  // mean about `typical` before clamping: memoryless, like a stop token of constant probability
    lognormal,  // median `typical`, log deviation `spread`: what public traces look like
  };
  Kind kind = Kind::fixed;
  double typical = 256;
  double spread = 0;
  std::int64_t least = 1;
  std::int64_t most = 1'000'000;

  // Says what does not fit together, or nothing.
  Status check() const;
  // A length within [least, most]; check() must have passed.
  std::int64_t draw(Random& random) const;
};

}  // namespace dmprof::workload
