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

constexpr double least_critical = 0.005;  // of wall time; less is not worth anybody's work

double share(double part, double whole) { return part / whole; }

MetricValue time_budget(const View& view, const Scope& scope) {
  const budget::Parts parts = parts_of(view, scope);
  if (parts.steps == 0 || parts.wall <= 0) return unavailable(reasons::no_steps(view, scope));
  MetricValue value;
  value.status = ValueStatus::ok;
  value.samples = parts.steps;
  double sum = 0;
  // The parts are what remains after overlap is resolved: shortening one of them ends the step sooner. Waiting for work
  // is no part of a step.
  const auto put = [&](const char* name, double part, const RatioEstimate& steps, bool step) {
    const double size = share(part, parts.wall);
    value.parts.push_back({name, size, parts.steps, step && size >= least_critical, steps.interval()});
    sum += size;
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
  double largest = 0;
  for (const Part& part : value.parts) {
    if (part.critical && part.value > largest) largest = part.value, value.subject = part.name;
  }
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
           "flight), transfer (not hidden, within a step), host, idle; waits are taken out of draft and verify; "
           "critical: a part "
           "of the step that still takes 0.5 % of wall time or more once what hides behind other work is taken out; "
           "the "
           "largest of them is named; each with its interval over steps",
       .needs = "steps; slices, request events, block accesses and transfers sharpen it",
       .events = events,
       .kind = MetricKind::shares,
       .by = {By::window, By::phase},
       .part_names = {"queue", "draft", "verify", "memory_stall", "prefetch_wait", "transfer", "host", "idle"},
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
