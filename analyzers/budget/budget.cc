#include "analyzers/budget/budget.h"

#include <algorithm>

#include "analyzers/budget/decompose.h"
#include "analyzers/registry/reasons.h"
#include "analyzers/registry/statistics.h"

namespace dmprof {
namespace {

// The same scope is asked for three times; the whole run's answer is kept.
budget::Parts parts_of(const View& view, const Scope& scope) {
  if (scope.range || scope.request || scope.tier || scope.phase != Phase::decode) return budget::decompose(view, scope);
  return view.shared<budget::Parts>([&] { return budget::decompose(view, scope); });
}

double share(double part, double whole) { return part / whole; }

MetricValue time_budget(const View& view, const Scope& scope) {
  const budget::Parts parts = parts_of(view, scope);
  if (parts.steps == 0 || parts.wall <= 0) return unavailable(reasons::no_steps(view, scope));
  MetricValue value;
  value.status = ValueStatus::ok;
  value.samples = parts.steps;
  double sum = 0;
  // What keeps a step from ending sooner is critical; waiting for work is not.
  const auto put = [&](const char* name, double part, const RatioEstimate& steps, bool step) {
    value.parts.push_back({name, share(part, parts.wall), parts.steps, step && part > 0, steps.interval()});
    sum += value.parts.back().value;
  };
  put("queue", parts.queue, parts.over_steps.queue, false);
  put("draft", parts.draft, parts.over_steps.draft, true);
  put("verify", parts.verify, parts.over_steps.verify, true);
  put("memory_stall", parts.memory_stall, parts.over_steps.memory_stall, true);
  put("prefetch_wait", parts.prefetch_wait, parts.over_steps.prefetch_wait, true);
  put("transfer", parts.transfer, parts.over_steps.transfer, true);
  put("host", parts.host, parts.over_steps.host, true);
  put("idle", parts.idle, parts.over_steps.idle, false);
  value.value = sum;
  const auto largest = std::max_element(value.parts.begin(), value.parts.end() - 1,
                                        [](const Part& a, const Part& b) { return a.value < b.value; });
  value.subject = largest->name;
  value.beside = {
      {"transfer hidden behind other work", "ratio", std::min(1.0, share(parts.hidden_transfer, parts.wall))}};
  if (!parts.knows_requests) value.reason = "without request events a pause between steps counts as idle";
  if (view.recording().accesses.empty()) {
    value.reason += std::string(value.reason.empty() ? "" : "; ") +
                    "without block accesses waits for blocks are inside draft and verify";
  }
  return value;
}

MetricValue compute_occupancy(const View& view, const Scope& scope) {
  const budget::Parts parts = parts_of(view, scope);
  if (parts.steps == 0 || parts.wall <= 0) return unavailable(reasons::no_steps(view, scope));
  if (parts.compute == 0) return unavailable("steps carry no draft or verify time");
  MetricValue value = scalar(share(parts.compute, parts.wall), parts.steps);
  value.interval = parts.over_steps.compute.interval();
  return value;
}

MetricValue memory_stall_share(const View& view, const Scope& scope) {
  if (view.recording().accesses.empty()) return unavailable(reasons::no_accesses(view));
  const budget::Parts parts = parts_of(view, scope);
  if (parts.steps == 0) return unavailable(reasons::no_steps(view, scope));
  if (parts.compute == 0) return unavailable("steps carry no draft or verify time");
  MetricValue value = scalar(share(parts.compute_waiting, parts.compute), parts.steps);
  value.interval = parts.over_steps.compute_waiting.interval();
  value.beside = {{"of wall time, demand misses", "ratio", share(parts.memory_stall, parts.wall)},
                  {"of wall time, prefetches in flight", "ratio", share(parts.prefetch_wait, parts.wall)}};
  return value;
}

}  // namespace

void register_budget(Catalogue& catalogue) {
  const Events events =
      Events::slices | Events::requests | Events::steps | Events::speculation | Events::accesses | Events::transfers;
  catalogue.add(
      {.name = "time_budget",
       .unit = "ratio",
       .definition =
           "shares of decode wall time, sum 1: queue, draft, verify, memory_stall (demand misses), prefetch_wait "
           "(prefetch in "
           "flight), transfer (not hidden), host, idle; waits are taken out of draft and verify; parts of a step that "
           "took time are the critical path; each with its interval over steps",
       .needs = "steps; slices, request events, block accesses and transfers sharpen it",
       .events = events,
       .kind = MetricKind::shares,
       .by = {By::window, By::phase},
       .compute = time_budget});
  catalogue.add(
      {.name = "compute_occupancy",
       .unit = "ratio",
       .definition =
           "time in draft or verify, waits for blocks included / wall time of decoding; not arithmetic: that is "
           "compute_utilization",
       .needs = "steps with draft and verify times",
       .events = events,
       .by = {By::window, By::phase},
       .compute = compute_occupancy});
  catalogue.add(
      {.name = "memory_stall_share",
       .unit = "ratio",
       .definition =
           "time in draft or verify spent waiting for blocks (missed or still in flight) / time in draft or verify",
       .needs = "steps and block accesses",
       .events = events,
       .direction = Direction::lower_is_better,
       .by = {By::window, By::phase},
       .compute = memory_stall_share});
}

}  // namespace dmprof
