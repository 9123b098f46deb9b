// Metrics that no event carries but an engine or collector may report itself: as a counter under the metric's own name,
// or as slices of a known name. A recording without them cannot answer, and says which counter or slice it lacks.
#pragma once

#include <functional>
#include <string>

#include "analyzers/registry/metric.h"

namespace dmprof::reported {

// Time-weighted mean of the counter over the scope's time; the largest value beside it.
std::function<MetricValue(const View&, const Scope&)> counter_mean(std::string counter);
// Last value - first value of a counter that only rises.
std::function<MetricValue(const View&, const Scope&)> counter_growth(std::string counter);
// Time of slices of this name within steps / step time.
std::function<MetricValue(const View&, const Scope&)> slice_share(std::string slice);

}  // namespace dmprof::reported
