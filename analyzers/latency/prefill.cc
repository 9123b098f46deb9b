// Prompts: how they are cut into steps and what time they take, and who waits to be let in.
#include <algorithm>

#include "analyzers/latency/latency.h"
#include "analyzers/registry/reasons.h"
#include "analyzers/registry/statistics.h"
#include "dmprof/event/describe.h"

namespace dmprof {
namespace {

Scope prefill_of(Scope scope) {
  scope.phase = Phase::prefill;
  return scope;
}

MetricValue queue(const View& view, const Scope& scope) {
  RatioEstimate waiting;
  for (const Step& step : view.steps(scope)) {
    const auto time = static_cast<double>(step.duration);
    if (time > 0) waiting.add(step.waiting * time, time);
  }
  return waiting.denominator() > 0 ? ratio_value(waiting) : unavailable(reasons::no_steps(view, scope));
}

MetricValue chunk(const View& view, const Scope& scope) {
  RatioEstimate tokens;
  for (const Step& step : view.steps(prefill_of(scope))) {
    if (step.target_tokens > 0) tokens.add(step.target_tokens, 1);
  }
  return tokens.denominator() > 0 ? ratio_value(tokens) : unavailable(reasons::no_steps(view, prefill_of(scope)));
}

MetricValue steps_per_request(const View& view, const Scope& scope) {
  const auto steps = static_cast<double>(view.steps(prefill_of(scope)).size());
  if (steps <= 0) return unavailable(reasons::no_steps(view, prefill_of(scope)));
  std::uint64_t requests = 0;
  for (const RequestEvent& event : view.recording().requests) {
    const bool inside = !scope.range || scope.range->overlaps(event.time, event.time);
    requests += inside && event.point == RequestPoint::first_token ? 1 : 0;
  }
  if (requests == 0) return unavailable(reasons::no_requests(view));
  return scalar(steps / static_cast<double>(requests), requests);
}

MetricValue time_share(const View& view, const Scope& scope) {
  const auto prefill = static_cast<double>(view.wall(prefill_of(scope)));
  const auto decode = static_cast<double>(view.wall(scope));
  if (prefill + decode <= 0) return unavailable(reasons::no_steps(view, scope));
  MetricValue value = scalar(prefill / (prefill + decode), view.recording().steps.size());
  value.window = "prefill and decode";
  return value;
}

}  // namespace

void register_prefill(Catalogue& catalogue) {
  const Events steps = Events::steps | Events::speculation;
  catalogue.add({.name = "admission_queue",
                 .unit = "requests",
                 .definition = "requests that wait for admission when a step starts, averaged over step time",
                 .needs = "steps",
                 .events = steps,
                 .direction = Direction::lower_is_better,
                 .by = {By::window},
                 .compute = queue});
  catalogue.add({.name = "prefill_chunk_tokens",
                 .unit = "tokens/step",
                 .definition = "tokens the target computes in a prefill step, on average",
                 .needs = "prefill steps",
                 .events = steps,
                 .compute = chunk});
  catalogue.add({.name = "prefill_steps_per_request",
                 .unit = "steps/request",
                 .definition = "prefill steps / requests that got their first token; above 1 prompts are cut up, below "
                               "1 several are computed at once",
                 .needs = "prefill steps and request events",
                 .events = steps | Events::requests,
                 .compute = steps_per_request});
  catalogue.add({.name = "prefill_time_share",
                 .unit = "ratio",
                 .definition = "wall time of prefill / wall time of prefill and decoding",
                 .needs = "steps",
                 .events = steps,
                 .compute = time_share});
}

}  // namespace dmprof
