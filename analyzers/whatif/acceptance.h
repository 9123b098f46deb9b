// Conditional acceptance by position for any lookahead: as measured, and beyond the deepest recorded position
// extrapolated with an interval.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzers/specdec/acceptance.h"

namespace dmprof::whatif {

struct Chances {
  std::vector<double> low, mid, high;  // a_k, k from 1; about 95 %
  std::uint32_t measured = 0;          // positions that were; the rest is extrapolated
};

// `positions` is the wanted lookahead. Measured positions: the share itself, with its binomial interval in low and
// high. Beyond them the line that fits the measured a_k (weighted by how often each was reached) goes on, never
// upwards; low and high are two standard errors of that line apart from it, and at least the interval of the last
// measured position; low is no better than the worst measured one: a text may turn hard anywhere.
Chances chances(const specdec::Acceptance& acceptance, std::uint32_t positions);

}  // namespace dmprof::whatif
