#include "samples/simcard/twin/description.h"

#include <algorithm>
#include <cmath>

namespace dmprof::twin {

double Bins::mean() const {
  double sum = 0;
  for (const double each : means) sum += each;
  return means.empty() ? 0 : sum / static_cast<double>(means.size());
}

double draw(const Bins& bins, simcard::Random& random) {
  return bins.means.empty() ? 0 : bins.means[static_cast<std::size_t>(random.below(bins.means.size()))];
}

double Link::excess_of(std::uint64_t bytes, std::int64_t duration) const {
  const double own = imitated ? std::ceil(static_cast<double>(bytes) / bytes_per_second * 1e9)
                              : move_base + static_cast<double>(bytes) / move_bytes_per_second * 1e9;
  return std::max(static_cast<double>(duration) - own, 0.0);
}

double CostCurve::at(std::uint32_t tokens) const {
  if (points.empty() || tokens == 0) return 0;
  const auto n = static_cast<double>(tokens);
  if (points.size() == 1) return points[0].ns * n / std::max(points[0].tokens, 1U);
  auto right = std::find_if(points.begin(), points.end(), [&](const CostPoint& p) { return p.tokens >= tokens; });
  if (right == points.begin()) ++right;
  if (right == points.end()) --right;
  const CostPoint &a = *(right - 1), &b = *right;
  const double slope = (b.ns - a.ns) / (static_cast<double>(b.tokens) - a.tokens);
  const double value = a.ns + slope * (n - a.tokens);
  double least = points[0].ns;
  for (const CostPoint& p : points) least = std::min(least, p.ns / std::max(p.tokens, 1U));
  return std::max(value, least);
}

}  // namespace dmprof::twin
