#include "samples/simcard/serve/statistics.h"

#include <algorithm>

namespace dmprof::simcard {

Distribution distribution(std::vector<double> values) {
  Distribution d;
  d.samples = values.size();
  if (values.empty()) return d;
  std::sort(values.begin(), values.end());
  for (const double v : values) d.mean += v / static_cast<double>(values.size());
  const auto rank = [&](std::size_t percent) { return values[(values.size() * percent + 99) / 100 - 1]; };
  d.p50 = rank(50);
  d.p95 = rank(95);
  d.p99 = rank(99);
  d.max = values.back();
  return d;
}

}  // namespace dmprof::simcard
