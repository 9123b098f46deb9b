// Measured peaks of the recorded machine, and traffic by tier.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "analyzers/registry/view.h"

namespace dmprof::roofline {

bool is_dram(const Capacity& capacity);

// B/s: what the tier was registered with, else for main memory the calibration in the environment.
std::optional<double> bandwidth(const Recording& recording, TierId tier);

// A tier registered with the same figure as datasheet and measured bandwidth was configured to it (an imitated link, a
// simulated card): nobody measured anything. Says so in words for that, else "".
std::string configured(const Recording& recording, TierId tier);

struct Dram {
  double bandwidth = 0;  // B/s
  std::string lacking;   // why there is no meaningful figure, "" when there is
};
// Main memory counts only when what a step reads cannot sit in the last-level cache: at least twice its size.
Dram dram(const View& view, const Scope& scope);

std::optional<double> peak_flops(const Recording& recording);  // FLOP/s

struct Traffic {
  double bytes = 0, useful = 0;  // B, transfers clipped to the window in proportion to their time
  double busy = 0;               // ns of the window in which at least one of them ran
  std::uint64_t transfers = 0;
};
// What was read from each tier within the scope's time.
std::map<TierId, Traffic> traffic(const View& view, const Scope& scope);

// The slowest tier that served: the highest rank among those that were read from.
std::optional<TierId> slowest(const Recording& recording, const std::map<TierId, Traffic>& traffic);

// Parameter and KV bytes that the target passes of the scope read, and their FLOPs.
struct Work {
  double bytes = 0, parameter_bytes = 0, kv_bytes = 0, flops = 0, time = 0;  // time: ns of the steps
  std::uint64_t steps = 0;
  double bytes_per_step = 0;
};
Work work(const View& view, const Scope& scope);

}  // namespace dmprof::roofline
