#include "analyzers/registry/reported.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analyzers/registry/reasons.h"
#include "analyzers/registry/statistics.h"
#include "dmprof/event/describe.h"

namespace dmprof::reported {
namespace {

// Values of the counter in time order; several tracks may report it, each its own.
std::map<TrackId, std::vector<std::pair<TimeNs, double>>> values_of(const Recording& recording,
                                                                    const std::string& name) {
  std::map<TrackId, std::vector<std::pair<TimeNs, double>>> values;
  for (const Counter& counter : recording.counters) {
    if (recording.name(counter.name) == name) values[counter.track].emplace_back(counter.time, counter.value);
  }
  return values;
}

std::string no_counter(const std::string& name) {
  return fmt::format("no counter '{}' is in the recording: neither the engine nor a collector reported one", name);
}

}  // namespace

std::function<MetricValue(const View&, const Scope&)> counter_mean(std::string name) {
  return [name = std::move(name)](const View& view, const Scope& scope) {
    const Intervals time = view.time(scope);
    RatioEstimate mean;
    double most = 0;
    for (const auto& [track, values] : values_of(view.recording(), name)) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        const TimeNs begin = values[i].first;
        const TimeNs end = i + 1 < values.size() ? values[i + 1].first
                           : time.empty()        ? begin
                                                 : std::max(begin, time.back().end);
        const auto inside = static_cast<double>(overlap(time, {begin, end}));
        if (inside <= 0) continue;
        mean.add(inside * values[i].second, inside);
        most = std::max(most, values[i].second);
      }
    }
    if (mean.denominator() <= 0) return unavailable(no_counter(name));
    MetricValue value = ratio_value(mean);
    value.beside = {{"most", "", most}};
    return value;
  };
}

std::function<MetricValue(const View&, const Scope&)> counter_growth(std::string name) {
  return [name = std::move(name)](const View& view, const Scope&) {
    const auto tracks = values_of(view.recording(), name);
    if (tracks.empty()) return unavailable(no_counter(name));
    MetricValue value = scalar(0, 0);
    for (const auto& [track, values] : tracks) {
      *value.value += values.back().second - values.front().second;
      value.samples += values.size();
    }
    value.window = "whole run";
    return value;
  };
}

std::function<MetricValue(const View&, const Scope&)> slice_share(std::string name) {
  return [name = std::move(name)](const View& view, const Scope& scope) {
    Intervals steps, slices;
    for (const Step& step : view.steps(scope)) steps.push_back({step.start, end_of(step)});
    std::uint64_t count = 0;
    for (const Slice& slice : view.recording().slices) {
      if (view.recording().name(slice.name) == name) slices.push_back({slice.start, end_of(slice)}), ++count;
    }
    if (count == 0) return unavailable(fmt::format("no slice '{}' is in the recording: the engine marks none", name));
    steps = unite(std::move(steps));
    if (total(steps) <= 0) return unavailable(reasons::no_steps(view, scope));
    return scalar(
        static_cast<double>(total(intersect(steps, unite(std::move(slices))))) / static_cast<double>(total(steps)),
        count);
  };
}

}  // namespace dmprof::reported
