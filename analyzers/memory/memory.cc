#include "analyzers/memory/memory.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyzers/registry/reasons.h"
#include "analyzers/registry/reported.h"
#include "analyzers/registry/statistics.h"

namespace dmprof {
namespace {

MetricValue preemption_rate(const View& view, const Scope& scope) {
  const Recording& recording = view.recording();
  if (recording.requests.empty()) return unavailable(reasons::no_requests(view));
  const TimeNs wall = total(view.time(scope));
  if (wall <= 0) return unavailable(reasons::no_steps(view, scope));
  double preemptions = 0;
  std::map<std::uint64_t, double> by_request;
  for (const RequestEvent& event : recording.requests) {
    if (event.point != RequestPoint::preempt || (scope.range && !scope.range->overlaps(event.time, event.time)))
      continue;
    ++preemptions, ++by_request[event.request];
  }
  MetricValue value = scalar(preemptions / (static_cast<double>(wall) / 1e9), recording.requests.size());
  double worst = 0;
  for (const auto& [request, count] : by_request) worst = std::max(worst, count);
  value.beside = {{"preemptions", "events", preemptions}, {"of the worst request", "events", worst}};
  return value;
}

MetricValue worst_request(const View& view, const Scope& scope) {
  const MetricValue rate = preemption_rate(view, scope);
  if (!rate.ok()) return unavailable(rate.reason);
  return scalar(rate.beside.back().value, rate.samples);
}

// What was computed before a preemption is computed again.
MetricValue recompute_share(const View& view, const Scope&) {
  const Recording& recording = view.recording();
  if (recording.requests.empty()) return unavailable(reasons::no_requests(view));
  double again = 0, all = 0;
  for (const RequestEvent& event : recording.requests) {
    if (event.point == RequestPoint::preempt) again += static_cast<double>(event.tokens);
  }
  std::uint64_t steps = 0;
  for (const Step& step : recording.steps) all += step.target_tokens, ++steps;
  if (all <= 0) return unavailable("steps carry no token counts");
  MetricValue value = scalar(again / all, steps);
  value.window = "prefill and decode, whole run";
  return value;
}

MetricValue capacity_footprint(const View& view, const Scope& scope) {
  const std::optional<double> parameters = view.recording().environment_number("model.parameter_bytes");
  if (!parameters)
    return unavailable("the size of the parameters (environment model.parameter_bytes) is not in the recording");
  const MetricValue kv = reported::counter_mean("kv_bytes", "B")(view, scope);
  if (!kv.ok()) return unavailable(kv.reason);
  double batch = 0, time = 0;
  for (const Step& step : view.steps(scope))
    batch += static_cast<double>(step.batch) * static_cast<double>(step.duration),
        time += static_cast<double>(step.duration);
  if (batch <= 0) return unavailable(reasons::no_steps(view, scope));
  MetricValue value = scalar((*parameters + *kv.value) / (batch / time), kv.samples);
  value.reason = "activations are not reported and not counted";
  return value;
}

MetricValue footprint_over_capacity(const View& view, const Scope& scope) {
  const std::optional<double> device = view.recording().environment_number("device.memory_bytes");
  const std::optional<double> parameters = view.recording().environment_number("model.parameter_bytes");
  if (!device || *device <= 0)
    return unavailable("the size of the device's memory (environment device.memory_bytes) is not in the recording");
  if (!parameters)
    return unavailable("the size of the parameters (environment model.parameter_bytes) is not in the recording");
  const MetricValue kv = reported::counter_mean("kv_bytes", "B")(view, scope);
  if (!kv.ok()) return unavailable(kv.reason);
  MetricValue value = scalar((*parameters + *kv.value) / *device, kv.samples);
  value.reason = "activations are not reported and not counted";
  return value;
}

}  // namespace

void register_memory(Catalogue& catalogue) {
  const Events counters = Events::counters | Events::steps | Events::speculation;
  const auto gauge = [&](const char* name, const char* unit, const char* definition, Direction direction) {
    catalogue.add({.name = name,
                   .unit = unit,
                   .definition = definition,
                   .needs = std::string("a counter '") + name + "'",
                   .events = counters,
                   .direction = direction,
                   .by = {By::window},
                   .compute = reported::counter_mean(name, unit)});
  };
  catalogue.add({.name = "capacity_footprint",
                 .unit = "B/request",
                 .definition = "(parameter bytes + KV bytes of all requests in the batch) / batch",
                 .needs = "environment model.parameter_bytes and a counter 'kv_bytes'",
                 .events = counters,
                 .direction = Direction::lower_is_better,
                 .compute = capacity_footprint});
  catalogue.add({.name = "oom_events",
                 .unit = "events",
                 .definition = "failed allocations of device memory, pinned host memory or for fragmentation",
                 .needs = "a counter 'oom_events' that only rises",
                 .events = counters,
                 .direction = Direction::lower_is_better,
                 .compute = reported::counter_growth("oom_events")});
  for (const auto& [name, counter, what] :
       {std::tuple("oom_pinned_events", "oom_events.pinned", "failed allocations of pinned host memory"),
        std::tuple("oom_fragmentation_events", "oom_events.fragmentation",
                   "failed allocations that free memory was enough for, but not in one piece")}) {
    catalogue.add({.name = name,
                   .unit = "events",
                   .definition = what,
                   .needs = std::string("a counter '") + counter + "' that only rises",
                   .events = counters,
                   .direction = Direction::lower_is_better,
                   .compute = reported::counter_growth(counter)});
  }
  catalogue.add({.name = "footprint_over_capacity",
                 .unit = "x",
                 .definition = "(parameter bytes + KV bytes of all requests in the batch) / memory of the device",
                 .needs = "environment model.parameter_bytes and device.memory_bytes, a counter 'kv_bytes'",
                 .events = counters,
                 .direction = Direction::lower_is_better,
                 .compute = footprint_over_capacity});
  gauge("device_free_bytes", "B", "free memory of the device, averaged over decode time (NVML or the engine)",
        Direction::none);
  gauge("pinned_request_bytes", "B", "pinned host memory that the engine asks for in one piece", Direction::none);
  gauge("pinned_bytes", "B", "pinned host memory in use, averaged over decode time", Direction::none);
  gauge("kv_cache_usage", "ratio", "KV cache used / its capacity, averaged over decode time", Direction::none);
  catalogue.add({.name = "preemption_rate",
                 .unit = "1/s",
                 .definition = "preemptions / wall time of decoding; the worst request's count beside it",
                 .needs = "request events",
                 .events = Events::requests | Events::steps | Events::speculation,
                 .direction = Direction::lower_is_better,
                 .by = {By::window},
                 .compute = preemption_rate});
  catalogue.add({.name = "preemptions_of_worst_request",
                 .unit = "events",
                 .definition = "preemptions of the request that was preempted most",
                 .needs = "request events",
                 .events = Events::requests | Events::steps | Events::speculation,
                 .direction = Direction::lower_is_better,
                 .compute = worst_request});
  catalogue.add(
      {.name = "recompute_share",
       .unit = "ratio",
       .definition = "tokens that had been computed when their request was preempted / all tokens the target computed",
       .needs = "request events and steps",
       .events = Events::requests | Events::steps | Events::speculation,
       .direction = Direction::lower_is_better,
       .compute = recompute_share});
  gauge("hbm_fragmentation", "ratio", "free bytes unusable for the largest pending allocation / free bytes",
        Direction::lower_is_better);
  gauge("compression_ratio", "x", "logical bytes / stored bytes of a tier", Direction::higher_is_better);
  register_kv(catalogue);
}

}  // namespace dmprof
