// Operational intensity against the ridge point, and what follows from them.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "analyzers/registry/reasons.h"
#include "analyzers/registry/statistics.h"
#include "analyzers/registry/tiers.h"
#include "analyzers/roofline/peaks.h"
#include "analyzers/roofline/roofline.h"

namespace dmprof {
namespace {

MetricValue intensity(const View& view, const Scope& scope) {
  const roofline::Work work = roofline::work(view, scope);
  if (work.steps == 0) return unavailable(reasons::no_steps(view, scope));
  if (work.flops <= 0 || work.bytes <= 0) return unavailable("steps carry no FLOP or byte counts");
  MetricValue value = scalar(work.flops / work.bytes, work.steps);
  double attention_flops = 0, attention_bytes = 0, weight_flops = 0, weight_bytes = 0;
  for (const Kernel& kernel : view.recording().kernels) {
    if (!view.in_scope(kernel.track, kernel.start, scope) || kernel.bytes == 0) continue;
    const bool attention = view.recording().name(kernel.name).find("attention") != std::string_view::npos;
    (attention ? attention_flops : weight_flops) += static_cast<double>(kernel.flops);
    (attention ? attention_bytes : weight_bytes) += static_cast<double>(kernel.bytes);
  }
  if (weight_bytes > 0) value.beside.push_back({"matrix products over weights", "FLOP/B", weight_flops / weight_bytes});
  if (attention_bytes > 0) value.beside.push_back({"attention over KV", "FLOP/B", attention_flops / attention_bytes});
  return value;
}

struct Ridge {
  double flops = 0, bandwidth = 0;
  std::string memory, lacking, caveat;
};

// The memory side is the slowest tier that served; without transfers main memory.
Ridge ridge(const View& view, const Scope& scope) {
  Ridge result;
  const std::optional<double> peak = roofline::peak_flops(view.recording());
  if (!peak) {
    result.lacking = "the peak FLOP/s was not measured; run `dmprof calibrate` before recording";
    return result;
  }
  result.flops = *peak;
  if (const std::optional<TierId> tier = roofline::slowest(view.recording(), roofline::traffic(view, scope))) {
    result.bandwidth = roofline::bandwidth(view.recording(), *tier).value_or(0);
    result.memory = view.recording().tier_name(*tier);
    if (result.bandwidth > 0) result.caveat = roofline::configured(view.recording(), *tier);
  }
  if (result.bandwidth <= 0) {
    result.memory = "dram";
    result.bandwidth = view.recording().environment_number("calibration.read_bandwidth").value_or(0);
    for (const auto& [id, capacity] : view.recording().capacities) {
      if (roofline::is_dram(capacity) && capacity.measured_bandwidth > 0)
        result.bandwidth = capacity.measured_bandwidth;
    }
  }
  if (result.bandwidth <= 0)
    result.lacking = "no memory bandwidth was measured; run `dmprof calibrate` before recording";
  return result;
}

MetricValue ridge_point(const View& view, const Scope& scope) {
  const Ridge machine = ridge(view, scope);
  if (!machine.lacking.empty()) return unavailable(machine.lacking);
  MetricValue value = scalar(machine.flops / machine.bandwidth, 1);
  value.subject = machine.memory;
  value.reason = machine.caveat;
  value.window = "the machine";
  value.beside = {{"peak", "FLOP/s", machine.flops}, {"bandwidth", "B/s", machine.bandwidth}};
  return value;
}

// Hit rate of one tier, for the article's formula.
std::optional<double> hit_rate(const View& view, Scope scope, TierId tier) {
  double hits = 0, all = 0;
  scope.tier = tier;
  view.each_access(scope, [&](const BlockAccess& access) { hits += access.outcome == AccessOutcome::hit, ++all; });
  if (all == 0) return std::nullopt;
  return hits / all;
}

// Bandwidth that hits of a tier are read with: the tier's own, else main memory's, where an engine keeps what it holds
// itself.
std::optional<double> hit_bandwidth(const Recording& recording, TierId tier) {
  if (const std::optional<double> own = roofline::bandwidth(recording, tier)) return own;
  return recording.environment_number("calibration.read_bandwidth");
}

MetricValue effective_bandwidth(const View& view, const Scope& scope) {
  const Ridge machine = ridge(view, scope);
  if (!machine.lacking.empty()) return unavailable(machine.lacking);
  const std::optional<TierId> tier = cache::fastest_tier(view, scope);
  const std::optional<double> hits = tier ? hit_rate(view, scope, *tier) : std::nullopt;
  if (!hits) return unavailable(reasons::no_accesses(view));
  const MetricValue work = intensity(view, scope);
  if (!work.ok()) return unavailable(work.reason);
  const std::optional<double> fast = hit_bandwidth(view.recording(), *tier);
  if (!fast || *fast <= 0)
    return unavailable(
        "the bandwidth of the tier that hits are served from was not measured; run `dmprof calibrate` before "
        "recording");
  MetricValue value = scalar(std::min(machine.flops / *work.value, *fast * *hits), work.samples);
  value.subject = view.recording().tier_name(*tier);
  value.beside = {{"harmonic mix of hits and misses", "B/s", 1 / (*hits / *fast + (1 - *hits) / machine.bandwidth)}};
  return value;
}

MetricValue attention_window(const View& view, const Scope& scope) {
  const MetricValue bandwidth = effective_bandwidth(view, scope);
  if (!bandwidth.ok()) return unavailable(bandwidth.reason);
  const std::optional<double> head = view.recording().environment_number("model.attention_head_bytes");
  if (!head || *head <= 0)
    return unavailable(
        "the bytes of one attention head (environment model.attention_head_bytes) are not in the recording");
  if (!scope.slo.itl) return unavailable("no latency budget was given; name one with --slo itl=…");
  return scalar(std::ceil(*bandwidth.value * static_cast<double>(*scope.slo.itl) / 1e9 / *head), bandwidth.samples);
}

MetricValue prefill_intensity(const View& view, const Scope& scope) {
  Scope prefill = scope;
  prefill.phase = Phase::prefill;
  MetricValue value = intensity(view, prefill);
  if (!value.ok()) return unavailable(value.reason);
  value.window = "prefill";
  return value;
}

}  // namespace

namespace roofline {

MetricValue operational_intensity(const View& view, const Scope& scope) { return intensity(view, scope); }
MetricValue ridge_point(const View& view, const Scope& scope) { return dmprof::ridge_point(view, scope); }

}  // namespace roofline

void register_intensity(Catalogue& catalogue) {
  const Events events = Events::steps | Events::speculation | Events::transfers;
  catalogue.add({.name = "operational_intensity",
                 .unit = "FLOP/B",
                 .definition = "FLOPs / bytes of parameters and KV read by the target's passes; matrix products and "
                               "attention apart beside it",
                 .needs = "steps with FLOP and byte counts",
                 .events = events | Events::kernels,
                 .direction = Direction::higher_is_better,
                 .by = {By::window, By::phase},
                 .compute = intensity});
  catalogue.add({.name = "prefill_intensity",
                 .unit = "FLOP/B",
                 .definition = "operational_intensity of the target's prefill passes",
                 .needs = "prefill steps with FLOP and byte counts",
                 .events = events | Events::kernels,
                 .direction = Direction::higher_is_better,
                 .compute = prefill_intensity});
  catalogue.add(
      {.name = "ridge_point",
       .unit = "FLOP/B",
       .definition =
           "measured peak FLOP/s / bandwidth of the slowest tier that served, else of main memory, measured, or as it "
           "was configured where it says so",
       .needs = "a calibration",
       .events = events,
       .compute = ridge_point});
  catalogue.add({.name = "effective_bandwidth",
                 .unit = "B/s",
                 .definition = "min(peak FLOP/s / operational intensity, bandwidth x hit rate), both of the "
                               "fastest managed tier that was asked, which is named; it ignores that misses "
                               "are served too, so the harmonic "
                               "mix of both paths is beside it",
                 .needs = "a calibration, block accesses, steps with FLOP and byte counts",
                 .events = events | Events::accesses | Events::kernels,
                 .direction = Direction::higher_is_better,
                 .compute = effective_bandwidth});
  catalogue.add({.name = "attention_window",
                 .unit = "heads",
                 .definition = "attention heads whose parameters can be streamed within the latency budget: "
                               "ceil(effective_bandwidth x budget / bytes per "
                               "head)",
                 .needs = "what effective_bandwidth needs, model.attention_head_bytes, --slo itl",
                 .events = events | Events::accesses | Events::kernels,
                 .direction = Direction::higher_is_better,
                 .compute = attention_window});
}

}  // namespace dmprof
