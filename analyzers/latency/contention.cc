// What happens when requests meet: concurrency, batch, latency against being alone, the card's speculation engines.
#include <algorithm>

#include <fmt/format.h>

#include "analyzers/latency/engines.h"
#include "analyzers/latency/latency.h"
#include "analyzers/latency/lives.h"
#include "analyzers/registry/reasons.h"
#include "analyzers/registry/statistics.h"
#include "dmprof/event/describe.h"

namespace dmprof {
namespace {

constexpr std::size_t fewest_gaps = 20;  // below it a P99 is the maximum of a handful

const latency::Lives& lives(const View& view) {
  return view.shared<latency::Lives>([&] { return latency::lives_of(view.recording()); });
}

// Number of requests between arrival and end or failure, as a step function: change points in time order. A request
// whose arrival was not recorded was there before the recording began, one without an end outlives it.
struct Occupancy {
  std::vector<std::pair<TimeNs, int>> changes;  // time, requests from then on
  std::uint64_t requests = 0, there_before = 0;

  int at(TimeNs time) const {
    const auto after = std::upper_bound(changes.begin(), changes.end(), time,
                                        [](TimeNs t, const auto& change) { return t < change.first; });
    return after == changes.begin() ? 0 : std::prev(after)->second;
  }
};

Occupancy occupancy(const View& view) {
  Occupancy result;
  if (view.recording().requests.empty()) return result;  // then nothing says when anybody came or went
  const TimeRange run = view.run();
  for (const auto& [request, life] : lives(view)) {
    ++result.requests;
    if (!life.arrive) ++result.there_before;
    const TimeNs begin = life.arrive.value_or(run.begin);
    result.changes.emplace_back(begin, 1);
    result.changes.emplace_back(std::max(begin, life.gone.value_or(run.end)), -1);
  }
  std::sort(result.changes.begin(), result.changes.end());
  int inside = 0;
  for (auto& change : result.changes) change.second = inside += change.second;
  return result;
}

MetricValue concurrency(const View& view, const Scope& scope) {
  const Occupancy requests = occupancy(view);
  if (requests.changes.empty()) return unavailable(reasons::no_requests(view));
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
  MetricValue value = scalar(weighted / time, requests.requests);
  if (requests.there_before > 0)
    value.reason = fmt::format("{} of {} requests had arrived before the recording began", requests.there_before,
                               requests.requests);
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
  if (requests.changes.empty()) return unavailable(reasons::no_requests(view));
  std::vector<double> alone, together;
  for (const latency::Gap& gap : latency::token_gaps(lives(view))) {
    if (gap.end == gap.begin || gap.baseline) continue;
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

constexpr const char* no_engines =
    "the recording registers no speculation engines: this engine drafts on its ordinary compute units";

// Erlang C for c servers and an offered load of r = lambda / mu: mean number of waiting requests. FORMULAS.md.
double erlang_queue(std::uint32_t servers, double load) {
  double term = 1, sum = 0;  // r^k / k!
  for (std::uint32_t k = 0; k < servers; ++k) sum += term, term *= load / (k + 1);
  const double waiting = term * servers / (servers - load);
  return waiting / (sum + waiting) * load / (servers - load);
}

// The interval of a rate over step time, scaled to wall time: pauses between steps only lengthen the denominator.
std::optional<ConfidenceInterval> scaled(const RatioEstimate& by_step, double value) {
  const auto interval = by_step.interval();
  if (!interval || by_step.ratio() <= 0) return std::nullopt;
  return ConfidenceInterval{interval->low * value / by_step.ratio(), interval->high * value / by_step.ratio()};
}

// What a queue in equilibrium with arrivals at random would show at this load, on every card alike. The load is what
// the engines carry: mean busy engines, whoever waits beside them.
void add_erlang(const View& view, const latency::EngineUse& use, double wall, std::uint32_t engines,
                MetricValue& value) {
  const auto cards = static_cast<double>(view.units());
  const auto own = std::max(1u, engines / static_cast<std::uint32_t>(view.units()));
  const double carried = use.busy / wall / cards;
  if (carried < own) {
    value.beside.push_back({"Erlang C queue for this load", "requests", cards * erlang_queue(own, carried)});
  } else {
    value.reason = "the engines are never idle: no steady state, so no Erlang C figure";
  }
}

void say_how_known(const latency::EngineUse& use, MetricValue& value) {
  if (use.measured) return;
  value.reason += std::string(value.reason.empty() ? "" : "; ") +
                  "estimated from draft times and batch sizes: the recording has no slices 'draft_job'";
}

// `value_of` gives the metric from the use and the wall time that all cards together had.
template <class ValueOf>
MetricValue of_engines(const View& view, const Scope& scope, RatioEstimate latency::EngineUse::*by_step,
                       ValueOf&& value_of) {
  const std::uint32_t engines = latency::speculation_engines(view.recording());
  if (engines == 0) return unavailable(no_engines);
  const latency::EngineUse use = latency::engine_use(view, scope, engines);
  const auto wall = static_cast<double>(view.wall(scope));
  if (wall <= 0) return unavailable(reasons::no_steps(view, scope));
  MetricValue value = scalar(value_of(use, wall, engines), use.steps);
  value.interval = scaled(use.*by_step, *value.value);
  add_erlang(view, use, wall, engines, value);
  say_how_known(use, value);
  return value;
}

MetricValue engine_occupancy(const View& view, const Scope& scope) {
  MetricValue value = of_engines(
      view, scope, &latency::EngineUse::busy_by_step,
      [](const latency::EngineUse& use, double wall, std::uint32_t engines) { return use.busy / (wall * engines); });
  if (value.interval) value.interval->high = std::min(value.interval->high, 1.0);  // scaling is not exact
  return value;
}

MetricValue engine_queue(const View& view, const Scope& scope) {
  return of_engines(view, scope, &latency::EngineUse::waiting_by_step,
                    [](const latency::EngineUse& use, double wall, std::uint32_t) { return use.waiting / wall; });
}

}  // namespace

void register_contention(Catalogue& catalogue) {
  const Events events = Events::requests | Events::steps | Events::speculation;
  catalogue.add(
      {.name = "concurrency",
       .unit = "requests",
       .definition =
           "requests between arrival and end or failure, averaged over time; one whose arrival was not recorded counts "
           "from the beginning",
       .needs = "request events",
       .events = events,
       .by = {By::window},
       .windows_of_run = true,
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
                 .definition = "speculation engines drafting / engines of all cards, over wall time of decoding: from "
                               "slices 'draft_job' where the engine marks them, else estimated, a request in the batch "
                               "holding one engine while the batch drafts",
                 .needs = "a registered capacity of kind speculation_engine",
                 .events = events | Events::slices,
                 .by = {By::window},
                 .compute = engine_occupancy});
  catalogue.add({.name = "speculation_engine_queue",
                 .unit = "requests",
                 .definition =
                     "requests waiting for a speculation engine of their card, summed over cards and averaged "
                     "over wall time of decoding: time within drafting in which no slice 'draft_job' serves "
                     "them; without such slices estimated, what exceeds the card's engines waiting while the "
                     "batch drafts; Erlang C for the measured load beside it",
                 .needs = "a registered capacity of kind speculation_engine",
                 .events = events | Events::slices,
                 .direction = Direction::lower_is_better,
                 .by = {By::window},
                 .compute = engine_queue});
}

}  // namespace dmprof
