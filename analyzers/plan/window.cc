#include "analyzers/plan/window.h"

#include <algorithm>
#include <cmath>

namespace dmprof::plan {

double ideal_intensity(double m, double d, double tokens, double element_bytes) {
  return 2 * m * d * tokens / (m * d + d * tokens + m * tokens) / element_bytes;
}

double Roofline::attainable(double intensity) const { return std::min(peak_flops, intensity * bandwidth); }

double effective_bandwidth(const Roofline& machine, double intensity, double hit_rate) {
  return std::min(machine.peak_flops / intensity, machine.bandwidth * hit_rate);
}

double harmonic_bandwidth(double fast, double slow, double hit_rate) {
  return 1 / (hit_rate / fast + (1 - hit_rate) / slow);
}

double attention_window(double effective_bandwidth, double latency, double head_bytes) {
  return std::ceil(effective_bandwidth * latency / head_bytes);
}

}  // namespace dmprof::plan
