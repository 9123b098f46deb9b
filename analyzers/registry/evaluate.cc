// Evaluation of catalogued metrics over a recording: whole run and broken down, every value through the guard.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "analyzers/registry/catalogue.h"
#include "analyzers/registry/view.h"

namespace dmprof {
namespace {

constexpr int windows = 10;
constexpr double rounding = 1e-9;  // sums of doubles that should be exactly 1

struct Group {
  std::string key;
  Scope scope;
};

std::vector<Group> groups(By by, const View& view, const Scope& scope, bool windows_of_run) {
  std::vector<Group> all;
  const auto add = [&](std::string key) -> Scope& {
    all.push_back({std::move(key), scope});
    return all.back().scope;
  };
  const Recording& recording = view.recording();
  switch (by) {
    case By::request: {
      std::set<std::uint64_t> ids;
      for (const RequestEvent& event : recording.requests) ids.insert(event.request);
      for (const SpeculationStep& row : recording.speculation) ids.insert(row.request);
      ids.erase(0);
      for (const std::uint64_t id : ids) add(fmt::format("request {}", id)).request = id;
      break;
    }
    case By::tier:
      for (const auto& [id, capacity] : recording.capacities) {
        if (capacity.kind == "tier") add(recording.tier_name(id)).tier = id;
      }
      break;
    case By::phase:
      add("prefill").phase = Phase::prefill;
      add("decode").phase = Phase::decode;
      break;
    case By::window: {
      const Intervals time = windows_of_run ? clip({view.run()}, scope.range.value_or(TimeRange{})) : view.time(scope);
      if (time.empty()) break;
      const TimeNs begin = time.front().begin, length = time.back().end - begin;
      for (int i = 0; i < windows; ++i) {
        const auto edge = [&](int n) { return begin + length / windows * n + length % windows * n / windows; };
        // What happens at the very end, as the last tokens do, belongs to the last window.
        const TimeRange range{edge(i), edge(i + 1) + (i + 1 == windows ? 1 : 0)};
        add(fmt::format("{:.3f}-{:.3f} s", static_cast<double>(range.begin - begin) / 1e9,
                        static_cast<double>(range.end - begin) / 1e9))
            .range = range;
      }
      break;
    }
    case By::layer:
    case By::position:
      break;  // position: the parts of an array, see rows_of_parts
  }
  return all;
}

MetricValue compute(const Metric& metric, const View& view, const Scope& scope) {
  MetricValue value;
  if ((metric.events & view.recording().loaded) != metric.events) {
    value = unavailable("the events it needs were not loaded");
  } else {
    value = metric.compute(view, scope);
  }
  value.name = metric.name;
  value.unit = metric.unit;
  value.definition = metric.definition;
  value.kind = metric.kind;
  value.direction = metric.direction;
  if (value.window.empty()) value.window = view.window(scope, metric.keeps_warm_up, metric.keeps_baseline);
  guard(value);
  return value;
}

std::vector<ByRow> rows_of_parts(const MetricValue& whole) {
  std::vector<ByRow> rows;
  for (const Part& part : whole.parts) {
    MetricValue value = scalar(part.value, part.samples);
    value.name = whole.name, value.unit = whole.unit, value.definition = whole.definition, value.window = whole.window;
    value.direction = whole.direction;
    rows.push_back({part.name, {value}});
  }
  return rows;
}

// Layers are a breakdown that the command line knows and no event of a recording carries: blocks, kernels and transfers
// name a block or a step. Better said than answered with the whole.
MetricValue no_layers(MetricValue whole) {
  MetricValue value = unavailable(
      "no event of the recording names a layer, so nothing can be broken down by layer; blocks have ids of their own "
      "(dmprof query on the table block_access), and --by tier or --by window may tell what is looked for");
  value.name = whole.name, value.unit = whole.unit, value.definition = whole.definition, value.kind = whole.kind;
  value.direction = whole.direction, value.window = whole.window;
  return value;
}

bool forbidden(double number, std::string_view unit) {
  if (!std::isfinite(number)) return true;
  if (unit == "ratio") return number < -rounding || number > 1 + rounding;
  return number < 0 && unit != "1/h";  // only a slope may be negative
}

}  // namespace

void guard(MetricValue& value) {
  if (!value.ok()) return;
  std::optional<double> bad;
  const auto look = [&](double number, std::string_view unit) {
    if (!bad && forbidden(number, unit)) bad = number;
  };
  if (value.value) look(*value.value, value.unit);
  for (const Part& part : value.parts) {
    look(part.value, value.unit);
    if (part.interval) look(part.interval->low, value.unit), look(part.interval->high, value.unit);
  }
  if (value.interval) look(value.interval->low, value.unit), look(value.interval->high, value.unit);
  if (value.spread) {
    for (const double number :
         {value.spread->p50, value.spread->p90, value.spread->p95, value.spread->p99, value.spread->max}) {
      look(number, value.unit);
    }
  }
  for (const Beside& beside : value.beside) look(beside.value, beside.unit);
  const auto clamp = [&](double& number) {  // sums that miss 1 by a rounding
    if (value.unit == "ratio") number = std::clamp(number, 0.0, 1.0);
  };
  if (!bad) {
    if (value.value) clamp(*value.value);
    for (Part& part : value.parts) clamp(part.value);
    return;
  }
  const std::string subject = value.subject.empty() ? "" : fmt::format(" for {}", value.subject);
  value.status = ValueStatus::invalid;
  value.reason =
      std::isfinite(*bad)
          ? fmt::format(
                "instrument error: {:.4g}{} is outside what {} allows; the recorded figures contradict each other",
                *bad, subject, value.unit == "ratio" ? "[0, 1]" : value.unit)
          : fmt::format("instrument error: not a number{}; the recorded figures contradict each other", subject);
  value.value.reset(), value.interval.reset(), value.spread.reset();
  value.parts.clear(), value.beside.clear();
}

Result<std::vector<MetricValue>> Catalogue::evaluate(std::span<const std::string> names, const Recording& recording,
                                                     const EvaluateOptions& options) const {
  DMPROF_TRY(check(names));
  if (options.by) {
    for (const std::string& name : names) {
      if (*options.by == By::layer) continue;  // answered below, for every metric alike
      const std::vector<By>& supported = find(name)->by;
      if (std::find(supported.begin(), supported.end(), *options.by) != supported.end()) continue;
      std::vector<std::string_view> others;
      for (const By by : supported) others.push_back(to_text(by));
      return fail(ErrorKind::usage,
                  fmt::format("{} cannot be broken down by {}; {}", name, to_text(*options.by),
                              others.empty() ? "it has one value only"
                                             : fmt::format("try --by {}", fmt::join(others, " or --by "))));
    }
  }
  const View view(recording);
  Scope scope;
  scope.slo = options.slo;
  if (options.window_begin || options.window_end) {
    TimeRange range;
    if (options.window_begin) range.begin = *options.window_begin;
    if (options.window_end) range.end = *options.window_end;
    scope.range = range;
  }
  std::vector<MetricValue> values;
  for (const std::string& name : names) {
    const Metric& metric = *find(name);
    MetricValue value = compute(metric, view, scope);
    if (options.by == By::position) value.by = rows_of_parts(value);
    std::vector<Group> parts;
    if (options.by == By::layer) value = no_layers(std::move(value));
    if (options.by) parts = groups(*options.by, view, scope, metric.windows_of_run);
    for (const Group& group : parts) value.by.push_back({group.key, {compute(metric, view, group.scope)}});
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace dmprof
