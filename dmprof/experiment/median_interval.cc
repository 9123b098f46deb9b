#include "dmprof/experiment/median_interval.h"

#include <algorithm>
#include <cmath>

namespace dmprof::experiment {

Estimate median_interval(std::vector<double> values, double confidence) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  // The largest k with 2 P(fewer than k+1 of n lie below the median) <= 1 - confidence: k values are cut off each end.
  std::size_t cut = 0;
  double term = std::pow(0.5, static_cast<double>(n));  // P(exactly `cut` below)
  double below = term;
  while (true) {
    const double next = term * static_cast<double>(n - cut) / static_cast<double>(cut + 1);
    if (2 * (cut + 1) >= n || 2 * (below + next) > 1 - confidence) break;
    term = next;
    below += next;
    ++cut;
  }
  const double middle = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  return {values[cut], middle, values[n - 1 - cut]};
}

std::size_t values_for(double confidence) {
  std::size_t n = 1;
  while (2 * std::pow(0.5, static_cast<double>(n)) > 1 - confidence) ++n;
  return n;
}

}  // namespace dmprof::experiment
