// Times a user or an operator sees: to the first token, between tokens, of the whole request, of a step, in the queue.
#include "analyzers/latency/latency.h"

#include <optional>

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

// One sample a request; `of` returns nothing for a request that has not come that far. `when` decides about --window.
template <class Of>
MetricValue per_request(const View& view, const Scope& scope, const char* whole_run, const char* nobody, Of&& of) {
  std::vector<double> samples;
  for (const auto& [request, life] : lives(view)) {
    if (scope.request && request != *scope.request) continue;
    if (scope.range && !(life.arrive && scope.range->overlaps(*life.arrive, *life.arrive))) continue;
    if (const std::optional<double> sample = of(life)) samples.push_back(*sample);
  }
  if (samples.empty())
    return unavailable(
        view.recording().requests.empty() && view.recording().speculation.empty() ? reasons::no_requests() : nobody);
  MetricValue value = distribution(std::move(samples));
  value.window = whole_run;
  return value;
}

std::optional<double> between(const std::optional<TimeNs>& from, const std::optional<TimeNs>& to) {
  if (!from || !to) return std::nullopt;
  return static_cast<double>(*to - *from);
}

constexpr const char* every_request = "whole run, one sample a request, no warm-up left out";

MetricValue ttft(const View& view, const Scope& scope) {
  return per_request(view, scope, every_request,
                     "no request with both its arrival and its first token is in the recording",
                     [](const Life& life) { return between(life.arrive, life.first_token); });
}

MetricValue e2e(const View& view, const Scope& scope) {
  return per_request(view, scope, every_request, "no request with both its arrival and its end is in the recording",
                     [](const Life& life) { return between(life.arrive, life.end); });
}

MetricValue queue_wait(const View& view, const Scope& scope) {
  return per_request(view, scope, every_request,
                     "no request with both its arrival and its first schedule is in the recording",
                     [](const Life& life) { return between(life.arrive, life.schedule); });
}

MetricValue tpot(const View& view, const Scope& scope) {
  return per_request(view, scope, every_request, "no request with two tokens is in the recording",
                     [](const Life& life) { return latency::time_per_output_token(life); });
}

MetricValue itl(const View& view, const Scope& scope) {
  std::vector<double> samples;
  double zero = 0;
  for (const latency::Gap& gap : latency::token_gaps(lives(view))) {
    if (scope.request && gap.request != *scope.request) continue;
    if (scope.range && !scope.range->overlaps(gap.end, gap.end)) continue;
    samples.push_back(static_cast<double>(gap.end - gap.begin));
    if (gap.end == gap.begin) ++zero;
  }
  if (samples.empty()) {
    return unavailable(view.recording().speculation.empty() ? reasons::no_speculation(view)
                                                            : "no request with two tokens is in the recording");
  }
  const auto all = static_cast<double>(samples.size());
  MetricValue value = distribution(std::move(samples));
  value.window = "decode, whole run, one sample a token after the first, no warm-up left out";
  value.beside = {{"tokens that came with the one before", "ratio", zero / all}};
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
                       MetricValue (*compute)(const View&, const Scope&)) {
    catalogue.add({.name = name,
                   .unit = "ns",
                   .definition = definition,
                   .needs = needs,
                   .events = requests,
                   .kind = MetricKind::distribution,
                   .direction = Direction::lower_is_better,
                   .by = std::move(by),
                   .compute = compute});
  };
  add("ttft", "first token - arrival, per request: waiting for admission and the whole prefill included",
      "request events", {By::request, By::window}, ttft);
  add("itl",
      "time between consecutive output tokens of a request; a step that emits four gives one gap and three zeros",
      "speculation steps", {By::request, By::window}, itl);
  add("tpot", "(last token - first token) / (output tokens - 1), per request", "speculation steps",
      {By::request, By::window}, tpot);
  add("e2e_latency", "end - arrival, per request", "request events", {By::request, By::window}, e2e);
  add("step_time", "duration of a step of the target over the whole batch, drafting included", "steps",
      {By::request, By::phase, By::window}, step_time);
  add("queue_wait", "first schedule - arrival, per request", "request events", {By::request, By::window}, queue_wait);
  register_throughput(catalogue);
  register_contention(catalogue);
  register_tail(catalogue);
}

}  // namespace dmprof
