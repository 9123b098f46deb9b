// Metrics that no event carries but an engine or collector may report itself: as a counter under the metric's own name,
// or as slices of a known name. A recording without them cannot answer, and says which counter or slice it lacks.
#pragma once

#include <functional>
#include <string>

#include "analyzers/registry/metric.h"

namespace dmprof::reported {

// Whether a reading is a figure at all, and not a NaN, an infinity or what a source writes for "not supported" (DCGM's
// blank values, all bits set). What is none is left out everywhere.
bool is_figure(double reading);

// A number that somebody put into the environment table.
std::function<MetricValue(const View&, const Scope&)> environment_value(std::string key);

// Time-weighted mean of the counter over the scope's time; the largest value beside it.
std::function<MetricValue(const View&, const Scope&)> counter_mean(std::string counter);
// The counter `name`, or the largest of the counters `name.REASON`: the reason is the subject, the others are parts.
std::function<MetricValue(const View&, const Scope&)> counter_mean_by_reason(std::string name);
// Growth of a counter that only rises. Where it goes down its source restarted, and it is counted from 0 again.
std::function<MetricValue(const View&, const Scope&)> counter_growth(std::string counter);
// Time of slices of this name within steps / step time.
std::function<MetricValue(const View&, const Scope&)> slice_share(std::string slice);

}  // namespace dmprof::reported
