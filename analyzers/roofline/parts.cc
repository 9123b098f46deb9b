// The parts of the machine one by one: the bandwidth that classes of kernels reach, the clock of what limits.
#include <algorithm>
#include <string_view>

#include "analyzers/registry/reported.h"
#include "analyzers/roofline/peaks.h"
#include "analyzers/roofline/roofline.h"
#include "dmprof/event/describe.h"

namespace dmprof {
namespace {

bool is_routed(std::string_view kernel) {
  for (const std::string_view word : {"expert", "moe", "routed"}) {
    if (kernel.find(word) != std::string_view::npos) return true;
  }
  return false;
}

MetricValue kernel_bandwidth(const View& view, const Scope& scope, bool routed) {
  double bytes = 0, time = 0;
  std::uint64_t kernels = 0;
  for (const Kernel& kernel : view.recording().kernels) {
    if (kernel.bytes == 0 || kernel.duration <= 0 || !view.in_scope(kernel.track, kernel.start, scope)) continue;
    if (is_routed(view.recording().name(kernel.name)) != routed) continue;
    bytes += static_cast<double>(kernel.bytes), time += static_cast<double>(kernel.duration), ++kernels;
  }
  if (kernels == 0)
    return unavailable(routed ? "no kernel with a byte count is named after experts (expert, moe, routed)"
                              : "no kernels with byte counts are in the recording");
  const roofline::Dram dram = roofline::dram(view, scope);
  if (!dram.lacking.empty()) return unavailable(dram.lacking);
  MetricValue value = scalar(bytes / (time / 1e9) / dram.bandwidth, kernels);
  value.beside = {{dram.source, "B/s", dram.bandwidth}};
  return value;
}

// Which clock matters follows from the side of the ridge that the passes lie on.
MetricValue limiting_clock(const View& view, const Scope& scope) {
  const MetricValue intensity = roofline::operational_intensity(view, scope);
  if (!intensity.ok()) return unavailable(intensity.reason);
  const MetricValue ridge = roofline::ridge_point(view, scope);
  if (!ridge.ok()) return unavailable(ridge.reason);
  const bool memory = *intensity.value < *ridge.value;
  MetricValue value = reported::counter_mean(memory ? "memory_clock_ratio" : "clock_ratio", "x")(view, scope);
  value.subject = memory ? "memory" : "compute";
  return value;
}

}  // namespace

void register_parts(Catalogue& catalogue) {
  const Events events = Events::kernels | Events::steps | Events::speculation;
  const auto bandwidth = [&](const char* name, const char* which, bool routed) {
    catalogue.add(
        {.name = name,
         .unit = "ratio",
         .definition = std::string("bytes / run time of ") + which + " / measured bandwidth of main memory",
         .needs = "kernels with names and bytes, a calibration, a step that reads twice the last-level cache",
         .events = events,
         .direction = Direction::higher_is_better,
         .by = {By::window},
         .compute = [routed](const View& view, const Scope& scope) { return kernel_bandwidth(view, scope, routed); }});
  };
  bandwidth("routed_kernel_bandwidth", "kernels named after experts (expert, moe, routed)", true);
  bandwidth("dense_kernel_bandwidth", "kernels not named after experts", false);
  catalogue.add({.name = "limiting_clock_ratio",
                 .unit = "x",
                 .definition =
                     "current / maximum clock of what limits decoding, averaged over decode time: memory where "
                     "operational_intensity is below ridge_point, else compute",
                 .needs = "counters 'clock_ratio' and 'memory_clock_ratio' (NVML), steps with FLOP and byte counts, a "
                          "calibration",
                 .events = Events::counters | Events::transfers | events,
                 .direction = Direction::higher_is_better,
                 .by = {By::window},
                 .compute = limiting_clock});
}

}  // namespace dmprof
