// Whether what sources report can be believed: shares outside [0, 1], values that mean "not supported", counters that
// go down, gauges that stand still while nothing runs or that average over the engine's whole life.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analyzers/instrument/instrument.h"
#include "analyzers/registry/reported.h"
#include "analyzers/registry/view.h"
#include "dmprof/event/describe.h"

namespace dmprof {
namespace {

constexpr std::size_t fewest_idle = 3;  // readings of a gauge while nothing runs

struct Reading {
  TimeNs time = 0;
  double value = 0;
};
// In time order, by name and by what tells series of one name apart: labels, else the track.
struct Series {
  struct One {
    std::string name;
    std::vector<Reading> readings;
  };
  std::vector<One> all;
};

// Counters of the SDK and collectors, and gauges that were sampled.
Series read_series(const Recording& recording) {
  std::map<std::pair<NameId, std::uint64_t>, std::vector<Reading>> readings;
  for (const Counter& counter : recording.counters)
    readings[{counter.name, counter.track}].push_back({counter.time, counter.value});
  constexpr std::uint64_t labelled = std::uint64_t{1} << 32;  // no track
  for (const AggregateSample& sample : recording.samples) {
    if (sample.statistic == Statistic::gauge)
      readings[{sample.name, labelled + sample.labels}].push_back({end_of(sample), sample.value});
  }
  Series series;
  for (auto& [key, values] : readings)
    series.all.push_back({std::string(recording.name(key.first)), std::move(values)});
  return series;
}

const Series& series_of(const View& view) {
  return view.shared<Series>([&] { return read_series(view.recording()); });
}

const char* const no_readings = "no source reports counters or gauges in this recording";

bool ends_with_any(std::string_view name, std::span<const std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [name](std::string_view end) { return name.ends_with(end); });
}

// By the names engines give to shares; a percentage (DCGM's GPU_UTIL) is none.
bool is_share(std::string_view name) {
  constexpr std::array<std::string_view, 8> ends = {"hit_rate",    "accept_rate", "acceptance_rate", "usage_perc",
                                                    "cache_usage", "token_usage", "_utilization",    "_share"};
  return ends_with_any(name, ends);
}

bool only_rises(std::string_view name) {
  constexpr std::array<std::string_view, 3> ends = {"_total", "energy_joules", "oom_events"};
  return ends_with_any(name, ends);
}

// What these servers call so is an average since they started.
bool is_lifetime_average(std::string_view name) {
  constexpr std::array<std::string_view, 5> names = {
      "llamacpp:prompt_tokens_seconds", "llamacpp:predicted_tokens_seconds", "llamacpp:n_busy_slots_per_decode",
      "vllm:gpu_prefix_cache_hit_rate", "vllm:cpu_prefix_cache_hit_rate"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Gauges of work being done: they have nothing to say while none is.
bool tells_of_work(std::string_view name) {
  for (const std::string_view word : {"throughput", "hit_rate", "tokens_per_s", "accept_rate", "accept_length"}) {
    if (name.find(word) != std::string_view::npos) return true;
  }
  return false;
}

// Counts by series name; the largest is the subject, each a part, so that what rests on a metric of that name is known.
MetricValue counted(const std::map<std::string, std::uint64_t>& by_name, std::uint64_t looked_at) {
  MetricValue value = scalar(0, looked_at);
  std::uint64_t most = 0;
  for (const auto& [name, count] : by_name) {
    if (count == 0) continue;
    *value.value += static_cast<double>(count);
    value.parts.push_back({name, static_cast<double>(count), count, false});
    if (count > most) most = count, value.subject = name;
  }
  if (value.subject.empty()) value.subject = "none";
  value.window = "whole run";
  return value;
}

template <class Wrong>
MetricValue count_readings(const View& view, Wrong&& wrong) {
  std::map<std::string, std::uint64_t> by_name;
  std::uint64_t looked_at = 0;
  for (const auto& [name, readings] : series_of(view).all) {
    looked_at += readings.size();
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < readings.size(); ++i) count += wrong(name, readings, i) ? 1 : 0;
    by_name[name] += count;
  }
  return looked_at == 0 ? unavailable(no_readings) : counted(by_name, looked_at);
}

MetricValue impossible(const View& view, const Scope&) {
  return count_readings(view, [](const std::string& name, const std::vector<Reading>& readings, std::size_t i) {
    const double value = readings[i].value;
    return is_share(name) && reported::is_figure(value) && (value < 0 || value > 1 + 1e-9);
  });
}

MetricValue sentinels(const View& view, const Scope&) {
  return count_readings(view, [](const std::string&, const std::vector<Reading>& readings, std::size_t i) {
    return !reported::is_figure(readings[i].value);
  });
}

MetricValue resets(const View& view, const Scope&) {
  return count_readings(view, [](const std::string& name, const std::vector<Reading>& readings, std::size_t i) {
    return i > 0 && only_rises(name) && reported::is_figure(readings[i].value) &&
           reported::is_figure(readings[i - 1].value) && readings[i].value < readings[i - 1].value;
  });
}

MetricValue lifetime(const View& view, const Scope&) {
  std::map<std::string, std::uint64_t> by_name;
  const Series& series = series_of(view);
  for (const auto& [name, readings] : series.all) by_name[name] += is_lifetime_average(name) ? 1 : 0;
  return series.all.empty() ? unavailable(no_readings) : counted(by_name, series.all.size());
}

// Whether nothing ran at a time: outside of every step; without steps while the server says that nothing runs.
template <class Ask>
void each_idle(const View& view, const Series& series, Ask&& ask) {
  const Recording& recording = view.recording();
  if (!recording.steps.empty()) {
    Intervals steps;
    for (const Step& step : recording.steps) steps.push_back({step.start, end_of(step)});
    steps = unite(std::move(steps));
    ask([&steps](TimeNs time) { return overlap(steps, {time - 1, time + 1}) == 0; });
    return;
  }
  for (const auto& [name, readings] : series.all) {
    if (name.find("requests_running") == std::string::npos && name.find("running_reqs") == std::string::npos &&
        name.find("requests_processing") == std::string::npos)
      continue;
    ask([&running = readings](TimeNs time) {
      const auto after = std::upper_bound(running.begin(), running.end(), time,
                                          [](TimeNs t, const Reading& reading) { return t < reading.time; });
      return after != running.begin() && std::prev(after)->value == 0;
    });
    return;
  }
}

MetricValue frozen(const View& view, const Scope&) {
  const Series& series = series_of(view);
  if (series.all.empty()) return unavailable(no_readings);
  std::map<std::string, std::uint64_t> by_name;
  std::uint64_t looked_at = 0;
  each_idle(view, series, [&](auto&& idle_at) {
    for (const auto& [name, readings] : series.all) {
      if (!tells_of_work(name)) continue;
      std::set<double> values;
      std::size_t count = 0;
      for (const Reading& reading : readings) {
        if (reported::is_figure(reading.value) && idle_at(reading.time)) values.insert(reading.value), ++count;
      }
      if (count < fewest_idle) continue;
      ++looked_at;
      by_name[name] += values.size() == 1 && *values.begin() != 0 ? 1 : 0;
    }
  });
  if (looked_at == 0)
    return unavailable(
        fmt::format("no gauge of work (a throughput, a hit rate) was read {} times while nothing ran", fewest_idle));
  return counted(by_name, looked_at);
}

MetricValue settings_changed(const View& view, const Scope&) {
  const Recording& recording = view.recording();
  if (recording.knobs.empty()) return unavailable("the engine registers no knobs");
  std::map<std::pair<std::uint32_t, std::string>, std::set<std::string>> values;
  for (const Knob& knob : recording.knobs) values[{knob.process, knob.name}].insert(knob.value);
  std::map<std::string, std::uint64_t> by_name;
  for (const auto& [key, seen] : values) by_name[key.second] += seen.size() > 1 ? 1 : 0;
  MetricValue value = counted(by_name, values.size());
  std::vector<std::string> names;
  for (const Part& part : value.parts) names.push_back(part.name);
  if (!names.empty()) value.subject = fmt::format("{}", fmt::join(names, ", "));
  value.parts.clear();  // a knob may share its name with a metric, which is no worse for it
  return value;
}

MetricValue prefill_in_decode(const View& view, const Scope& scope) {
  double foreign = 0, all = 0;
  std::uint64_t steps = 0;
  for (const Step& step : view.steps(scope)) {
    double expected = 0;
    std::size_t sequences = 0;
    for (const SpeculationStep& row : view.rows_of_step(step.step))
      expected += std::max(row.verified, row.tree_nodes) + 1.0, ++sequences;
    if (step.target_tokens == 0 || sequences != step.batch) continue;
    foreign += std::max(0.0, step.target_tokens - expected), all += step.target_tokens, ++steps;
  }
  if (all <= 0) return unavailable("no decode step carries token counts and what it did for each of its sequences");
  return scalar(foreign / all, steps);
}

}  // namespace

void register_readings(Catalogue& catalogue) {
  const auto add = [&](const char* name, const char* unit, const char* definition, const char* needs, Events events,
                       MetricValue (*compute)(const View&, const Scope&)) {
    catalogue.add({.name = name,
                   .unit = unit,
                   .definition = definition,
                   .needs = needs,
                   .events = events,
                   .direction = Direction::lower_is_better,
                   .compute = compute});
  };
  const Events read = Events::counters | Events::samples;
  const char* const sources = "counters or sampled gauges";
  add("impossible_readings", "readings",
      "readings of shares (hit and acceptance rates, usages, utilizations) outside [0, 1], by name", sources, read,
      impossible);
  add("sentinel_readings", "readings",
      "readings that are no figures: not a number, infinite, or what a source writes for \"not supported\"", sources,
      read, sentinels);
  add("counter_resets", "events", "times that a counter which only rises went down, by name", sources, read, resets);
  add("lifetime_averages", "series", "gauges that are known to average over the engine's whole life", sources, read,
      lifetime);
  add("frozen_gauges", "series",
      "gauges of work (throughputs, hit and acceptance rates) that keep one value other than 0 in all of at least 3 "
      "readings while nothing runs",
      "gauges that were read while the engine idled", read | Events::steps, frozen);
  add("settings_changed", "settings", "knobs that had more than one value during the recording", "registered knobs",
      Events::none, settings_changed);
  add("prefill_in_decode_share", "ratio",
      "tokens computed by decode steps beyond one and the verified drafts of each sequence / tokens they computed",
      "steps and speculation steps", Events::steps | Events::speculation, prefill_in_decode);
}

}  // namespace dmprof
