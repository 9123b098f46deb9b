// Arithmetic against its peak, and a step's time against the time its FLOPs and bytes need.
#include <algorithm>
#include <set>
#include <vector>

#include "analyzers/registry/reasons.h"
#include "analyzers/registry/statistics.h"
#include "analyzers/roofline/peaks.h"
#include "analyzers/roofline/roofline.h"
#include "dmprof/event/describe.h"

namespace dmprof {
namespace {

MetricValue compute_utilization(const View& view, const Scope& scope) {
  std::vector<Intervals> times(view.units());
  std::vector<bool> known(view.units());
  double busy = 0, whole = 0;
  std::uint64_t kernels = 0;
  std::set<TrackId> tracks;
  for (const Kernel& kernel : view.recording().kernels) {
    const std::size_t unit = view.unit_of(kernel.track);
    if (!known[unit]) times[unit] = view.time(scope, kernel.track), known[unit] = true;
    const TimeNs inside = overlap(times[unit], {kernel.start, end_of(kernel)});
    if (inside <= 0) continue;
    // A wait inside the kernel is taken out in proportion to the part of it that lies in the window.
    const double waiting =
        std::clamp(static_cast<double>(kernel.stall) / static_cast<double>(kernel.duration), 0.0, 1.0);
    busy += static_cast<double>(inside) * (1 - waiting);
    if (tracks.insert(kernel.track).second) whole += static_cast<double>(total(times[unit]));
    ++kernels;
  }
  if (kernels == 0) return unavailable("no kernels here: when the compute units did arithmetic is not known");
  return scalar(busy / whole, kernels);
}

MetricValue flops_utilization(const View& view, const Scope& scope) {
  const roofline::Work work = roofline::work(view, scope);
  const std::optional<double> peak = roofline::peak_flops(view.recording());
  if (work.steps == 0) return unavailable(reasons::no_steps(view, scope));
  if (work.flops <= 0) return unavailable("steps carry no FLOP counts");
  if (!peak) return unavailable("the peak FLOP/s was not measured; run `dmprof calibrate` before recording");
  MetricValue value = scalar(work.flops / (static_cast<double>(view.wall(scope)) / 1e9) / *peak, work.steps);
  value.beside = {{"measured peak", "FLOP/s", *peak}};
  return value;
}

MetricValue over_roofline(const View& view, const Scope& scope) {
  const roofline::Work work = roofline::work(view, scope);
  if (work.steps == 0 || work.time <= 0) return unavailable(reasons::no_steps(view, scope));
  // Each resource alone would need this long for all steps, s; the longest is the roofline.
  MetricValue value = scalar(0, work.steps);
  double longest = 0;
  const auto need = [&](const std::string& name, double seconds) {
    value.beside.push_back({name + " needs", "ns", seconds * 1e9 / static_cast<double>(work.steps)});
    if (seconds > longest) longest = seconds, value.subject = name;
  };
  if (const std::optional<double> peak = roofline::peak_flops(view.recording()); peak && work.flops > 0)
    need("compute", work.flops / *peak);
  if (const roofline::Dram dram = roofline::dram(view, scope); dram.lacking.empty())
    need("dram", work.bytes / dram.bandwidth);
  for (const auto& [tier, sum] : roofline::traffic(view, scope)) {
    const std::optional<double> peak = roofline::bandwidth(view.recording(), tier);
    if (!peak || *peak <= 0 || sum.bytes <= 0) continue;
    const auto capacity = view.recording().capacities.find(tier);
    const bool is_dram = capacity != view.recording().capacities.end() && roofline::is_dram(capacity->second);
    const double moved = sum.bytes / static_cast<double>(work.steps);
    if (is_dram && !roofline::dram(view, scope, moved).lacking.empty()) continue;  // the caches may have served it
    need(view.recording().tier_name(tier), sum.bytes / *peak);
    if (const std::string caveat = roofline::configured(view.recording(), tier); !caveat.empty())
      value.reason += (value.reason.empty() ? "" : "; ") + caveat;
  }
  if (longest <= 0)
    return unavailable(
        "no peak is known: neither calibrated FLOP/s nor the measured bandwidth of a tier that moved bytes");
  // Tracks that step side by side share the peaks.
  value.value = work.time / static_cast<double>(work.tracks) / 1e9 / longest;
  return value;
}

}  // namespace

void register_compute(Catalogue& catalogue) {
  const Events events = Events::steps | Events::speculation | Events::transfers;
  catalogue.add({.name = "compute_utilization",
                 .unit = "ratio",
                 .definition = "time kernels ran, their waits for blocks taken out / wall time of decoding; busy "
                               "including waits is compute_occupancy",
                 .needs = "kernels with their stalls",
                 .events = events | Events::kernels,
                 .direction = Direction::higher_is_better,
                 .by = {By::window, By::phase},
                 .compute = compute_utilization});
  catalogue.add({.name = "model_flops_utilization",
                 .unit = "ratio",
                 .definition = "FLOPs of the target's passes / wall time of decoding / measured peak FLOP/s",
                 .needs = "steps with FLOP counts and a calibration",
                 .events = events,
                 .direction = Direction::higher_is_better,
                 .by = {By::window, By::phase},
                 .compute = flops_utilization});
  catalogue.add({.name = "step_time_over_roofline",
                 .unit = "x",
                 .definition = "measured step time / the longest of: FLOPs at the measured peak, bytes moved from each "
                               "tier at its measured bandwidth; "
                               "main memory only where it is what a step waits for",
                 .needs = "steps, and a calibration or transfers from a tier of known bandwidth",
                 .events = events,
                 .direction = Direction::lower_is_better,
                 .by = {By::window, By::phase},
                 .compute = over_roofline});
}

}  // namespace dmprof
