// Times a user or an operator sees: to the first token, between tokens, of the whole request, of a step, in the queue.
#include "analyzers/latency/latency.h"

#include <map>
#include <optional>
#include <string>

#include "analyzers/latency/engines.h"
#include "analyzers/latency/lives.h"
#include "analyzers/registry/reasons.h"
#include "analyzers/registry/statistics.h"

namespace dmprof {
namespace {

using latency::Life;
using latency::Lives;

const Lives& lives(const View& view) {
  return view.shared<Lives>([&] { return latency::lives_of(view.recording()); });
}

std::optional<double> between(const std::optional<TimeNs>& from, const std::optional<TimeNs>& to) {
  if (!from || !to) return std::nullopt;
  return static_cast<double>(*to - *from);
}

// A request's figure and the moment it became known: that moment decides which window it belongs to.
struct Sample {
  std::optional<double> value;
  TimeNs when = 0;
};

// Visits the lives of the scope: all, or the one of its request.
template <class Visit>
void each_life(const View& view, const Scope& scope, Visit&& visit) {
  if (!scope.request) {
    for (const auto& [request, life] : lives(view)) visit(request, life);
  } else if (const auto found = lives(view).find(*scope.request); found != lives(view).end()) {
    visit(found->first, found->second);
  }
}

// What the scope's requests are taken from, for the window's text.
const char* stretch(const Scope& scope) { return scope.range ? "one window" : "whole run"; }

// One sample a request; `of` returns no value for a request that has not come that far.
template <class Of>
MetricValue per_request(const View& view, const Scope& scope, const char* nobody, Of&& of) {
  std::vector<double> samples;
  each_life(view, scope, [&](std::uint64_t, const Life& life) {
    const Sample sample = of(life);
    if (!sample.value) return;
    if (scope.range && !scope.range->overlaps(sample.when, sample.when)) return;
    samples.push_back(*sample.value);
  });
  if (samples.empty())
    return unavailable(view.recording().requests.empty() && view.recording().speculation.empty()
                           ? reasons::no_requests(view)
                           : nobody);
  MetricValue value = distribution(std::move(samples));
  value.window = std::string(stretch(scope)) + ", one sample a request, no warm-up left out";
  return value;
}

MetricValue ttft(const View& view, const Scope& scope) {
  return per_request(view, scope, "no request with both its arrival and its first token is in the recording",
                     [](const Life& life) {
                       return Sample{between(life.arrive, life.first_token), life.first_token.value_or(0)};
                     });
}

MetricValue e2e(const View& view, const Scope& scope) {
  double baseline = 0;
  MetricValue value = per_request(view, scope, "no request with both its arrival and its end is in the recording",
                                  [&baseline](const Life& life) {
                                    const Sample sample{between(life.arrive, life.end), life.end.value_or(0)};
                                    if (sample.value) baseline += static_cast<double>(latency::baseline_time(life));
                                    return sample;
                                  });
  // What the user waited for cannot be told apart from what would have been: it is said instead.
  if (value.ok() && !scope.range && baseline > 0) {
    value.window += ", baseline steps included";
    value.beside = {{"of it baseline steps, mean", "ns", baseline / static_cast<double>(value.samples)}};
  }
  return value;
}

// How long requests waited for a speculation engine, summed over their steps.
void add_engine_wait(const View& view, const Scope& scope, MetricValue& value) {
  const std::uint32_t engines = latency::speculation_engines(view.recording());
  if (engines == 0) return;
  std::map<std::uint64_t, double> waited = latency::engine_use(view, scope, engines).wait_of_request;
  if (scope.request) std::erase_if(waited, [&](const auto& each) { return each.first != *scope.request; });
  if (waited.empty()) return;
  std::vector<double> samples;
  double sum = 0;
  for (const auto& [request, time] : waited) samples.push_back(time), sum += time;
  const Spread spread = spread_of(samples);
  value.beside.push_back(
      {"waiting for a speculation engine, mean per request", "ns", sum / static_cast<double>(samples.size())});
  value.beside.push_back({"waiting for a speculation engine, P50", "ns", spread.p50});
  value.beside.push_back({"waiting for a speculation engine, P99", "ns", spread.p99});
}

MetricValue queue_wait(const View& view, const Scope& scope) {
  MetricValue value = per_request(
      view, scope, "no request with both its arrival and its first schedule is in the recording", [](const Life& life) {
        return Sample{between(life.arrive, life.schedule), life.schedule.value_or(0)};
      });
  if (value.ok()) add_engine_wait(view, scope, value);
  return value;
}

std::string baseline_left_out(const View& view) {
  return view.baseline_rows() == 0 ? ", no warm-up left out" : ", no warm-up left out, baseline steps left out";
}

MetricValue tpot(const View& view, const Scope& scope) {
  MetricValue value = per_request(view, scope, "no request with two tokens is in the recording", [](const Life& life) {
    return Sample{latency::time_per_output_token(life), life.emissions.empty() ? 0 : life.emissions.back().time};
  });
  if (value.ok()) value.window = std::string(stretch(scope)) + ", one sample a request" + baseline_left_out(view);
  return value;
}

MetricValue itl(const View& view, const Scope& scope) {
  std::vector<double> samples;
  double zero = 0, baseline = 0, baseline_time = 0;
  std::vector<latency::Gap> gaps;
  each_life(view, scope, [&](std::uint64_t request, const Life& life) { latency::append_gaps(request, life, gaps); });
  for (const latency::Gap& gap : gaps) {
    if (scope.range && !scope.range->overlaps(gap.end, gap.end)) continue;
    if (gap.baseline) {
      ++baseline, baseline_time += static_cast<double>(gap.end - gap.begin);
      continue;
    }
    samples.push_back(static_cast<double>(gap.end - gap.begin));
    if (gap.end == gap.begin) ++zero;
  }
  if (samples.empty()) {
    return unavailable(view.recording().speculation.empty() ? reasons::no_speculation(view)
                                                            : "no request with two tokens is in the recording");
  }
  const auto all = static_cast<double>(samples.size());
  MetricValue value = distribution(std::move(samples));
  value.window =
      std::string("decode, ") + stretch(scope) + ", one sample a token after the first" + baseline_left_out(view);
  value.beside = {{"tokens that came with the one before", "ratio", zero / all}};
  if (baseline > 0) value.beside.push_back({"gaps of baseline steps, mean", "ns", baseline_time / baseline});
  if (const MetricValue per_token = tpot(view, scope); per_token.ok())
    value.beside.push_back({"tpot", "ns", *per_token.value});
  return value;
}

MetricValue step_time(const View& view, const Scope& scope) {
  std::vector<double> samples;
  for (const Step& step : view.steps(scope)) samples.push_back(static_cast<double>(step.duration));
  return samples.empty() ? unavailable(reasons::no_steps(view, scope)) : distribution(std::move(samples));
}

}  // namespace

void register_latency(Catalogue& catalogue) {
  const Events requests = Events::requests | Events::steps | Events::speculation;
  const auto add = [&](const char* name, const char* definition, const char* needs, std::vector<By> by,
                       bool windows_of_run, MetricValue (*compute)(const View&, const Scope&),
                       Events more = Events::none) {
    catalogue.add({.name = name,
                   .unit = "ns",
                   .definition = definition,
                   .needs = needs,
                   .events = requests | more,
                   .kind = MetricKind::distribution,
                   .direction = Direction::lower_is_better,
                   .by = std::move(by),
                   .windows_of_run = windows_of_run,
                   .compute = compute});
  };
  add("ttft", "first token - arrival, per request: waiting for admission and the whole prefill included",
      "request events", {By::request, By::window}, true, ttft);
  add("itl",
      "time between consecutive output tokens of a request; a step that emits four gives one gap and three zeros; gaps "
      "that baseline steps made are left out and stand beside it",
      "speculation steps", {By::request, By::window}, false, itl);
  add("tpot",
      "(last token - first token) / (output tokens - 1), per request, gaps and tokens of baseline steps left out",
      "speculation steps", {By::request, By::window}, true, tpot);
  add("e2e_latency",
      "end - arrival, per request; baseline steps are part of it, their time stands beside it; failed requests have "
      "none",
      "request events", {By::request, By::window}, true, e2e);
  add("step_time", "duration of a step of the target over the whole batch, drafting included", "steps",
      {By::request, By::phase, By::window}, false, step_time);
  add("queue_wait",
      "first schedule - arrival, per request; beside it waiting for a speculation engine, where the recording "
      "registers "
      "some",
      "request events", {By::request, By::window}, true, queue_wait, Events::slices);
  register_throughput(catalogue);
  register_contention(catalogue);
  register_tail(catalogue);
  register_prefill(catalogue);
}

}  // namespace dmprof
