// Measured peaks of the recorded machine, and traffic by tier.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_set>

#include "analyzers/registry/view.h"

namespace dmprof::roofline {

bool is_dram(const Capacity& capacity);

// B/s: what the tier was registered with, else for main memory the calibration in the environment.
std::optional<double> bandwidth(const Recording& recording, TierId tier);

// A tier registered with the same figure as datasheet and measured bandwidth was configured to it (an imitated link, a
// simulated card): nobody measured anything. Says so in words for that, else "".
std::string configured(const Recording& recording, TierId tier);

// Where that figure comes from: "configured bandwidth" (see above), "calibrated bandwidth" (dmprof calibrate) or
// "measured bandwidth" (by the engine).
std::string bandwidth_source(const Recording& recording, TierId tier);

struct Dram {
  double bandwidth = 0;  // B/s
  std::string source;    // as bandwidth_source() says it
  std::string lacking;   // why there is no meaningful figure, "" when there is
};
// Main memory counts only when what a step reads cannot sit in the last-level cache: at least twice its size. `moved`:
// bytes per step that transfers read from it, which stand in where steps carry no bytes of their own.
Dram dram(const View& view, const Scope& scope, double moved = 0);

std::optional<double> peak_flops(const Recording& recording);  // FLOP/s

struct Traffic {
  // B, transfers clipped to the window in proportion to their time; `unused`: asked for by prefetches nobody used
  double bytes = 0, useful = 0, unused = 0;
  double busy = 0;  // ns of the window in which at least one of them ran, of several units the mean
  std::uint64_t transfers = 0;
};
// What was read from each tier within the scope's time. The useful bytes of the transfers at the positions `unused`
// (unused.h) are counted as unused instead.
std::map<TierId, Traffic> traffic(const View& view, const Scope& scope,
                                  const std::unordered_set<std::size_t>& unused = {});

// The slowest tier that served: the highest rank among those that were read from.
std::optional<TierId> slowest(const Recording& recording, const std::map<TierId, Traffic>& traffic);

// Parameter and KV bytes that the target passes of the scope read, and their FLOPs.
struct Work {
  double bytes = 0, parameter_bytes = 0, kv_bytes = 0, flops = 0, time = 0;  // time: ns of the steps
  std::uint64_t steps = 0;
  std::size_t tracks = 1;  // that ran the steps, side by side
  double bytes_per_step = 0;
};
Work work(const View& view, const Scope& scope);

// The metrics of these names, for metrics that build on them.
MetricValue operational_intensity(const View& view, const Scope& scope);
MetricValue ridge_point(const View& view, const Scope& scope);

}  // namespace dmprof::roofline
