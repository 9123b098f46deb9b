// Percentiles of a sample.
#pragma once

#include <vector>

namespace dmprof::simcard {

struct Distribution {
  double mean = 0, p50 = 0, p95 = 0, p99 = 0, max = 0;
  std::size_t samples = 0;  // 0: the others say nothing
};

// Nearest-rank percentiles (no interpolation).
Distribution distribution(std::vector<double> values);

}  // namespace dmprof::simcard
