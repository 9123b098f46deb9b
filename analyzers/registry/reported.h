// Metrics that no event carries but an engine or collector may report itself: as a counter under the metric's own name,
// or as slices of a known name. A recording without them cannot answer, and says which counter or slice it lacks.
#pragma once

#include <functional>
#include <string>

#include "analyzers/registry/metric.h"
#include "dmprof/store/tables.h"

namespace dmprof::reported {

// Whether a reading is a figure at all, and not a NaN, an infinity or what a source writes for "not supported" (DCGM's
// blank values, all bits set). What is none is left out everywhere.
bool is_figure(double reading);

// A number that somebody put into the environment table.
std::function<MetricValue(const View&, const Scope&)> environment_value(std::string key);

// Time-weighted mean of the counter over the scope's time; the largest value, in the metric's unit, beside it.
std::function<MetricValue(const View&, const Scope&)> counter_mean(std::string counter, std::string unit);
// The counter `name`, or the largest of the counters `name.REASON`: the reason is the subject, the others are parts.
std::function<MetricValue(const View&, const Scope&)> counter_mean_by_reason(std::string name, std::string unit);
// Growth of a counter that only rises. Where it goes down its source restarted, and it is counted from 0 again.
// Several tracks may report it, each its own: the sum, and the time from the first reading of any to the last.
struct Growth {
  double amount = 0;
  TimeRange read = {};  // the first reading lies at its begin, the last at its end
  std::uint64_t readings = 0;
  std::uint64_t rises = 0;   // readings that had one before them on the same track
  std::string remark = "";   // how often it went down, "" for never
  std::string lacking = "";  // why there is none, "" when there is
};
Growth growth_of(const Recording& recording, const std::string& counter);
std::function<MetricValue(const View&, const Scope&)> counter_growth(std::string counter);
// Time of slices of this name within steps / step time, each unit's slices within its own steps.
std::function<MetricValue(const View&, const Scope&)> slice_share(std::string slice);

}  // namespace dmprof::reported
