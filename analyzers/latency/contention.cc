// What happens when requests meet: concurrency, batch, latency against being alone, the card's speculation engines.
#include <algorithm>

#include <fmt/format.h>

#include "analyzers/latency/latency.h"
#include "analyzers/latency/lives.h"
#include "analyzers/registry/reasons.h"
#include "analyzers/registry/statistics.h"
#include "dmprof/event/describe.h"

namespace dmprof {
namespace {

constexpr std::uint32_t most_engines = 4096;  // of a card; more is a damaged figure
constexpr std::size_t fewest_gaps = 20;       // below it a P99 is the maximum of a handful

const latency::Lives& lives(const View& view) {
  return view.shared<latency::Lives>([&] { return latency::lives_of(view.recording()); });
}

// Number of requests between arrival and end, as a step function: change points in time order.
struct Occupancy {
  std::vector<std::pair<TimeNs, int>> changes;  // time, requests from then on

  int at(TimeNs time) const {
    const auto after = std::upper_bound(changes.begin(), changes.end(), time,
                                        [](TimeNs t, const auto& change) { return t < change.first; });
    return after == changes.begin() ? 0 : std::prev(after)->second;
  }
};

Occupancy occupancy(const View& view) {
  Occupancy result;
  TimeNs last = 0;
  for (const RequestEvent& event : view.recording().requests) last = std::max(last, event.time);
  for (const Step& step : view.recording().steps) last = std::max(last, end_of(step));
  for (const auto& [request, life] : lives(view)) {
    if (!life.arrive) continue;
    result.changes.emplace_back(*life.arrive, 1);
    result.changes.emplace_back(life.end.value_or(last), -1);
  }
  std::sort(result.changes.begin(), result.changes.end());
  int inside = 0;
  for (auto& change : result.changes) change.second = inside += change.second;
  return result;
}

MetricValue concurrency(const View& view, const Scope& scope) {
  const Occupancy requests = occupancy(view);
  if (requests.changes.empty()) return unavailable(reasons::no_requests());
  double weighted = 0, time = 0, most = 0;
  for (std::size_t i = 0; i + 1 < requests.changes.size(); ++i) {
    const TimeNs from =
        scope.range ? std::max(requests.changes[i].first, scope.range->begin) : requests.changes[i].first;
    const TimeNs to =
        scope.range ? std::min(requests.changes[i + 1].first, scope.range->end) : requests.changes[i + 1].first;
    if (to <= from) continue;
    weighted += static_cast<double>(to - from) * requests.changes[i].second;
    time += static_cast<double>(to - from);
    most = std::max(most, static_cast<double>(requests.changes[i].second));
  }
  if (time <= 0) return unavailable("no request was there here");
  MetricValue value = scalar(weighted / time, lives(view).size());
  value.window = "first arrival to last end";
  value.beside = {{"most at once", "requests", most}};
  return value;
}

MetricValue batch_size(const View& view, const Scope& scope) {
  RatioEstimate estimate;
  for (const Step& step : view.steps(scope)) {
    if (step.batch > 0)
      estimate.add(static_cast<double>(step.batch) * static_cast<double>(step.duration),
                   static_cast<double>(step.duration));
  }
  return estimate.denominator() > 0 ? ratio_value(estimate) : unavailable(reasons::no_steps(view, scope));
}

MetricValue inflation(const View& view, const Scope&) {
  const Occupancy requests = occupancy(view);
  if (requests.changes.empty()) return unavailable(reasons::no_requests());
  std::vector<double> alone, together;
  for (const latency::Gap& gap : latency::token_gaps(lives(view))) {
    if (gap.end == gap.begin) continue;
    const int before = requests.at(gap.begin), after = requests.at(gap.end - 1);
    if (before == 1 && after == 1) alone.push_back(static_cast<double>(gap.end - gap.begin));
    if (before > 1 && after > 1) together.push_back(static_cast<double>(gap.end - gap.begin));
  }
  if (alone.size() < fewest_gaps || together.size() < fewest_gaps) {
    return unavailable(fmt::format("{} token gaps with one request alone and {} with several; {} of each are needed",
                                   alone.size(), together.size(), fewest_gaps));
  }
  const double p99_alone = spread_of(alone).p99, p99_together = spread_of(together).p99;
  MetricValue value = scalar(p99_together / p99_alone, alone.size() + together.size());
  value.window = "decode, whole run";
  value.beside = {{"P99 alone", "ns", p99_alone}, {"P99 together", "ns", p99_together}};
  return value;
}

// The card's speculation engines, when the recording registers them.
std::uint32_t engines(const Recording& recording) {
  std::uint32_t units = 0;
  for (const auto& [id, capacity] : recording.capacities) {
    if (capacity.kind == "speculation_engine") units += std::clamp(capacity.units, 1u, most_engines);
  }
  return std::min(units, most_engines);
}

constexpr const char* no_engines =
    "the recording registers no speculation engines: this engine drafts on its ordinary compute units";

// Erlang C for c servers and an offered load of r = lambda / mu: mean number of waiting requests. FORMULAS.md.
double erlang_queue(std::uint32_t servers, double load) {
  double term = 1, sum = 0;  // r^k / k!
  for (std::uint32_t k = 0; k < servers; ++k) sum += term, term *= load / (k + 1);
  const double waiting = term * servers / (servers - load);
  return waiting / (sum + waiting) * load / (servers - load);
}

struct EngineLoad {
  double busy = 0, waiting = 0, time = 0;  // engine-ns, request-ns, ns
  std::uint64_t steps = 0;
};

EngineLoad engine_load(const View& view, const Scope& scope, std::uint32_t units) {
  EngineLoad load;
  for (const Step& step : view.steps(scope)) {
    const double drafting = static_cast<double>(step.draft_time);
    load.busy += drafting * std::min(step.batch, units);
    load.waiting += step.batch > units ? drafting * (step.batch - units) : 0;
    ++load.steps;
  }
  load.time = static_cast<double>(total(view.time(scope)));
  return load;
}

MetricValue engine_occupancy(const View& view, const Scope& scope) {
  const std::uint32_t units = engines(view.recording());
  if (units == 0) return unavailable(no_engines);
  const EngineLoad load = engine_load(view, scope, units);
  if (load.time <= 0) return unavailable(reasons::no_steps(view, scope));
  return scalar(load.busy / (load.time * units), load.steps);
}

MetricValue engine_queue(const View& view, const Scope& scope) {
  const std::uint32_t units = engines(view.recording());
  if (units == 0) return unavailable(no_engines);
  const EngineLoad load = engine_load(view, scope, units);
  if (load.time <= 0) return unavailable(reasons::no_steps(view, scope));
  MetricValue value = scalar(load.waiting / load.time, load.steps);
  const double offered = (load.busy + load.waiting) / load.time;
  if (offered < units) {
    value.beside = {{"Erlang C for this load", "requests", erlang_queue(units, offered)}};
  } else {
    value.reason = "the offered load is at or above the engines: no steady state, so no Erlang C figure";
  }
  return value;
}

}  // namespace

void register_contention(Catalogue& catalogue) {
  const Events events = Events::requests | Events::steps | Events::speculation;
  catalogue.add({.name = "concurrency",
                 .unit = "requests",
                 .definition = "requests between arrival and end, averaged over time",
                 .needs = "request events",
                 .events = events,
                 .by = {By::window},
                 .compute = concurrency});
  catalogue.add({.name = "batch_size",
                 .unit = "requests",
                 .definition = "sequences in a step, averaged over step time",
                 .needs = "steps",
                 .events = events,
                 .by = {By::window, By::phase},
                 .compute = batch_size});
  catalogue.add({.name = "latency_inflation",
                 .unit = "x",
                 .definition = "P99 of the gap between consecutive emissions while several requests are there / P99 of "
                               "the same while one is alone, "
                               "within this recording",
                 .needs = "token gaps with one request alone and with several",
                 .events = events,
                 .direction = Direction::lower_is_better,
                 .compute = inflation});
  catalogue.add({.name = "speculation_engine_occupancy",
                 .unit = "ratio",
                 .definition = "speculation engines drafting / engines, over wall time of decoding; a request in the "
                               "batch holds one engine while the "
                               "batch drafts",
                 .needs = "a registered capacity of kind speculation_engine",
                 .events = events,
                 .by = {By::window},
                 .compute = engine_occupancy});
  catalogue.add({.name = "speculation_engine_queue",
                 .unit = "requests",
                 .definition = "requests waiting for a speculation engine, averaged over wall time of decoding; Erlang "
                               "C for the measured load beside it",
                 .needs = "a registered capacity of kind speculation_engine",
                 .events = events,
                 .direction = Direction::lower_is_better,
                 .by = {By::window},
                 .compute = engine_queue});
}

}  // namespace dmprof
