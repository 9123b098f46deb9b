#include "analyzers/host/host.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "analyzers/registry/reasons.h"
#include "analyzers/registry/reported.h"
#include "analyzers/registry/statistics.h"
#include "dmprof/event/describe.h"

namespace dmprof {
namespace {

constexpr std::uint64_t fewest_steps = 5;  // of a batch size, for its mean to count

// Kernels of the scope's steps by step and track, in time order.
using Launches = std::map<std::pair<std::uint64_t, TrackId>, std::vector<TimeRange>>;
Launches launches_of(const View& view, const Scope& scope) {
  Launches launches;
  for (const Kernel& kernel : view.recording().kernels) {
    const Step* step = view.find_step(kernel.step);
    if (step == nullptr || !view.in_scope(kernel.track, kernel.start, scope)) continue;
    launches[{kernel.step, kernel.track}].push_back({kernel.start, end_of(kernel)});
  }
  return launches;
}

MetricValue host_gap(const View& view, const Scope& scope) {
  const Launches launches = launches_of(view, scope);
  if (launches.empty())
    return unavailable("no kernels within steps: when the device idles between launches is not known");
  RatioEstimate estimate;
  for (const auto& [key, ranges] : launches) {
    const Step* step = view.find_step(key.first);
    const Intervals busy = unite(ranges);
    const TimeNs idle = busy.back().end - busy.front().begin - total(busy);
    if (step->duration > 0) estimate.add(static_cast<double>(idle), static_cast<double>(step->duration));
  }
  return estimate.denominator() > 0 ? ratio_value(estimate) : unavailable(reasons::no_steps(view, scope));
}

MetricValue launches_per_token(const View& view, const Scope& scope) {
  double launches = 0, tokens = 0;
  for (const auto& [key, ranges] : launches_of(view, scope)) launches += static_cast<double>(ranges.size());
  if (launches == 0) return unavailable("no kernels within steps");
  for (const SpeculationStep& row : view.speculation(scope)) {
    if (view.in_scope(row.track, row.time - 1, scope)) tokens += row.emitted;
  }
  if (tokens == 0) return unavailable(reasons::no_speculation(view));
  return scalar(launches / tokens, static_cast<std::uint64_t>(launches));
}

MetricValue staircase(const View& view, const Scope& scope) {
  std::map<std::uint32_t, RatioEstimate> by_batch;
  for (const Step& step : view.steps(scope)) by_batch[step.batch].add(static_cast<double>(step.duration), 1);
  std::erase_if(by_batch, [](const auto& entry) { return entry.second.samples() < fewest_steps; });
  MetricValue value = scalar(0, 0);
  for (auto before = by_batch.begin(); before != by_batch.end(); ++before) {
    const auto after = std::next(before);
    if (after == by_batch.end() || after->first != before->first + 1 || before->second.ratio() <= 0) continue;
    const double jump = after->second.ratio() / before->second.ratio();
    value.samples += before->second.samples();
    if (jump > *value.value)
      value.value = jump, value.subject = fmt::format("batch {} to {}", before->first, after->first);
  }
  if (value.samples == 0)
    return unavailable(
        fmt::format("no two neighbouring batch sizes with {} steps each are in the recording", fewest_steps));
  return value;
}

// Before and after the largest batch: the way up and the way down.
MetricValue hysteresis(const View& view, const Scope& scope) {
  const std::vector<Step> steps = view.steps(scope);
  const auto peak =
      std::max_element(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.batch < b.batch; });
  std::map<std::uint32_t, std::pair<RatioEstimate, RatioEstimate>> by_batch;
  for (auto step = steps.begin(); step != steps.end(); ++step) {
    if (peak != steps.end() && step->batch < peak->batch)
      (step < peak ? by_batch[step->batch].first : by_batch[step->batch].second)
          .add(static_cast<double>(step->duration), 1);
  }
  MetricValue value = scalar(0, 0);
  for (const auto& [batch, ways] : by_batch) {
    if (ways.first.samples() < fewest_steps || ways.second.samples() < fewest_steps || ways.first.ratio() <= 0)
      continue;
    const double change = ways.second.ratio() / ways.first.ratio();
    value.samples += ways.first.samples() + ways.second.samples();
    if (change > *value.value) value.value = change, value.subject = fmt::format("batch {}", batch);
  }
  if (value.samples == 0)
    return unavailable(
        fmt::format("no batch size with {} steps on the way up and on the way down is in the recording", fewest_steps));
  return value;
}

// Tokens of decode steps, and of prompts whose first token no decode step told of, that came after `read` began and
// not after it ended: what the meter grew by at its first reading is not known, and a token's energy is spent before
// it.
double output_tokens(const Recording& recording, TimeRange read) {
  const auto metered = [read](TimeNs time) { return time > read.begin && time <= read.end; };
  double tokens = 0;
  std::unordered_map<std::uint64_t, TimeNs> first;  // row of each request
  for (const SpeculationStep& row : recording.speculation) {
    tokens += metered(row.time) ? row.emitted : 0;
    if (row.request != 0 && row.emitted > 0) first.try_emplace(row.request, row.time);
  }
  std::unordered_set<std::uint64_t> counted;
  for (const RequestEvent& event : recording.requests) {
    if (event.point != RequestPoint::first_token || !counted.insert(event.request).second) continue;
    const auto row = first.find(event.request);
    if ((row == first.end() || row->second > event.time) && metered(event.time)) ++tokens;
  }
  return tokens;
}

MetricValue energy_per_token(const View& view, const Scope&) {
  const reported::Growth joules = reported::growth_of(view.recording(), "energy_joules");
  if (!joules.lacking.empty()) return unavailable(joules.lacking);
  if (joules.rises == 0)
    return unavailable("the counter 'energy_joules' was read once only: how much it grew is not known");
  const double tokens = output_tokens(view.recording(), joules.read);
  if (tokens == 0)
    return unavailable(view.recording().speculation.empty()
                           ? reasons::no_speculation(view)
                           : "no token came between the first and the last reading of 'energy_joules'");
  MetricValue value = scalar(joules.amount / tokens, joules.readings);
  value.reason = joules.remark;
  value.window = "first to last reading of the meter, prefill included: the meter does not tell phases apart";
  return value;
}

}  // namespace

void register_host(Catalogue& catalogue) {
  const Events steps = Events::steps | Events::speculation;
  const auto gauge = [&](const char* name, const char* unit, const char* definition) {
    catalogue.add({.name = name,
                   .unit = unit,
                   .definition = definition,
                   .needs = std::string("a counter '") + name + "'",
                   .events = steps | Events::counters,
                   .by = {By::window},
                   .compute = reported::counter_mean(name, unit)});
  };
  catalogue.add({.name = "host_gap_share",
                 .unit = "ratio",
                 .definition = "time between the first and the last kernel of a step during which none runs / step "
                               "time, per track; not reliable where "
                               "graph replay hides kernels",
                 .needs = "kernels within steps",
                 .events = steps | Events::kernels,
                 .direction = Direction::lower_is_better,
                 .by = {By::window},
                 .compute = host_gap});
  catalogue.add({.name = "launches_per_token",
                 .unit = "1/token",
                 .definition = "kernels within decode steps / tokens emitted by them",
                 .needs = "kernels within steps and speculation steps",
                 .events = steps | Events::kernels,
                 .direction = Direction::lower_is_better,
                 .by = {By::window},
                 .compute = launches_per_token});
  gauge("host_core_busy", "ratio",
        "running time of the busiest host thread / time, waiting in synchronisation calls excluded");
  catalogue.add({.name = "step_time_staircase",
                 .unit = "x",
                 .definition = "largest ratio of mean step times between neighbouring batch sizes",
                 .needs = "steps at neighbouring batch sizes",
                 .events = steps,
                 .direction = Direction::lower_is_better,
                 .compute = staircase});
  catalogue.add(
      {.name = "load_hysteresis",
       .unit = "x",
       .definition = "mean step time at a batch size after the load's peak / before it; the largest over batch sizes",
       .needs = "a load that rises and falls",
       .events = steps,
       .direction = Direction::lower_is_better,
       .compute = hysteresis});
  catalogue.add({.name = "energy_per_token",
                 .unit = "J/token",
                 .definition = "energy between the first and the last reading of the meter / output tokens that came "
                               "between them, those that prefill emits included",
                 .needs = "a counter 'energy_joules' that only rises",
                 .events = steps | Events::counters | Events::requests,
                 .direction = Direction::lower_is_better,
                 .compute = energy_per_token});
  gauge("clock_ratio", "x", "current clock / maximum clock, averaged over decode time");
  gauge("memory_clock_ratio", "x", "current clock / maximum clock of the memory, averaged over decode time");
  gauge("api_time_share", "ratio",
        "time the launching host thread spends in calls that launch or copy / time (CUPTI or an imported trace)");
  gauge("host_sync_share", "ratio",
        "time the busiest host thread waits in synchronisation calls / time (CUPTI or an imported trace)");
  catalogue.add({.name = "throttle",
                 .unit = "ratio",
                 .definition =
                     "share of decode time during which a throttle reason was set; of the reason that was set "
                     "longest, which is named",
                 .needs = "counters 'throttle' or 'throttle.REASON' (NVML)",
                 .events = steps | Events::counters,
                 .direction = Direction::lower_is_better,
                 .by = {By::window},
                 .compute = reported::counter_mean_by_reason("throttle", "ratio")});
  register_device(catalogue);
}

}  // namespace dmprof
