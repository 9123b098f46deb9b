// An interval for a median that needs no assumption about the noise.
#pragma once

#include <cstddef>
#include <vector>

namespace dmprof::experiment {

// A ratio after/before, or any other figure, with what is known about it.
struct Estimate {
  double low = 0, mid = 0, high = 0;
};

// The median, and the order statistics that enclose the true median with at least `confidence` (sign test: of n values
// each lies below it with probability 1/2). With too few values for that (6 for 0.95, 7 for 0.98) the interval is
// everything seen, which then says less than `confidence`. Not for an empty vector; the order does not matter.
Estimate median_interval(std::vector<double> values, double confidence);

// Values needed so that the interval keeps `confidence`.
std::size_t values_for(double confidence);

}  // namespace dmprof::experiment
