#include "analyzers/registry/reported.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

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
    if (recording.name(counter.name) == name && is_figure(counter.value))
      values[counter.track].emplace_back(counter.time, counter.value);
  }
  return values;
}

std::string no_counter(const Recording& recording, const std::string& name) {
  for (const Counter& counter : recording.counters) {
    if (recording.name(counter.name) == name && !is_figure(counter.value))
      return fmt::format("every reading of the counter '{}' means \"not supported\" or is no number", name);
  }
  return fmt::format("no counter '{}' is in the recording: neither the engine nor a collector reported one", name);
}

}  // namespace

bool is_figure(double reading) {
  if (!std::isfinite(reading) || std::abs(reading) >= 9.2e18) return false;  // 2^63 and above, less DCGM's variants
  // Of 32 bits and of floating point values: the first of four variants (blank, not found, not supported, no
  // permission).
  for (const double blank : {2147483632.0, 140737488355328.0}) {
    if (reading >= blank && reading <= blank + 3 && reading == std::floor(reading)) return false;
  }
  return true;
}

std::function<MetricValue(const View&, const Scope&)> environment_value(std::string key) {
  return [key = std::move(key)](const View& view, const Scope&) {
    const std::optional<double> number = view.recording().environment_number(key);
    if (!number) return unavailable(fmt::format("the environment of the recording holds no number {}", key));
    MetricValue value = scalar(*number, 1);
    value.window = "the recording's environment";
    return value;
  };
}

std::function<MetricValue(const View&, const Scope&)> counter_mean(std::string name, std::string unit) {
  return [name = std::move(name), unit = std::move(unit)](const View& view, const Scope& scope) {
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
    if (mean.denominator() <= 0) return unavailable(no_counter(view.recording(), name));
    MetricValue value = ratio_value(mean);
    value.beside = {{"most", unit, most}};
    return value;
  };
}

std::function<MetricValue(const View&, const Scope&)> counter_mean_by_reason(std::string name, std::string unit) {
  return [name = std::move(name), unit = std::move(unit)](const View& view, const Scope& scope) {
    MetricValue most = counter_mean(name, unit)(view, scope);
    std::set<std::string> reasons;
    for (const Counter& counter : view.recording().counters) {
      const std::string_view counted = view.recording().name(counter.name);
      if (counted.starts_with(name + ".")) reasons.emplace(counted.substr(name.size() + 1));
    }
    std::vector<Part> parts;
    for (const std::string& reason : reasons) {
      MetricValue one = counter_mean(name + "." + reason, unit)(view, scope);
      if (!one.ok()) continue;
      parts.push_back({reason, *one.value, one.samples, false});
      if (most.ok() && *most.value >= *one.value) continue;
      one.subject = reason;
      most = std::move(one);
    }
    most.parts = std::move(parts);
    return most;
  };
}

Growth growth_of(const Recording& recording, const std::string& counter) {
  Growth growth;
  std::uint64_t restarts = 0;
  for (const auto& [track, values] : values_of(recording, counter)) {
    for (std::size_t i = 1; i < values.size(); ++i) {
      const bool restarted = values[i].second < values[i - 1].second;
      growth.amount += values[i].second - (restarted ? 0 : values[i - 1].second);
      restarts += restarted ? 1 : 0;
    }
    const TimeNs first = values.front().first, last = values.back().first;
    growth.read = growth.readings == 0 ? TimeRange{first, last}
                                       : TimeRange{std::min(growth.read.begin, first), std::max(growth.read.end, last)};
    growth.readings += values.size(), growth.rises += values.size() - 1;
  }
  if (growth.readings == 0) growth.lacking = no_counter(recording, counter);
  if (restarts > 0) growth.remark = fmt::format("the counter went down {} times and is counted from 0 again", restarts);
  return growth;
}

std::function<MetricValue(const View&, const Scope&)> counter_growth(std::string name) {
  return [name = std::move(name)](const View& view, const Scope&) {
    const Growth growth = growth_of(view.recording(), name);
    if (!growth.lacking.empty()) return unavailable(growth.lacking);
    MetricValue value = scalar(growth.amount, growth.readings);
    value.reason = growth.remark;
    value.window = "whole run";
    return value;
  };
}

std::function<MetricValue(const View&, const Scope&)> slice_share(std::string name) {
  return [name = std::move(name)](const View& view, const Scope& scope) {
    std::vector<Intervals> steps(view.units()), slices(view.units());
    for (const Step& step : view.steps(scope)) steps[view.unit_of(step.track)].push_back({step.start, end_of(step)});
    std::uint64_t count = 0;
    for (const Slice& slice : view.recording().slices) {
      if (view.recording().name(slice.name) != name) continue;
      slices[view.unit_of(slice.track)].push_back({slice.start, end_of(slice)}), ++count;
    }
    if (count == 0) return unavailable(fmt::format("no slice '{}' is in the recording: the engine marks none", name));
    double inside = 0, all = 0;
    for (std::size_t unit = 0; unit < view.units(); ++unit) {
      const Intervals own = unite(std::move(steps[unit]));
      inside += static_cast<double>(total(intersect(own, unite(std::move(slices[unit])))));
      all += static_cast<double>(total(own));
    }
    return all > 0 ? scalar(inside / all, count) : unavailable(reasons::no_steps(view, scope));
  };
}

}  // namespace dmprof::reported
