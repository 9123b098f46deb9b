// How long a draft takes on an engine, and how much of it the target accepts.
#pragma once

#include <cstdint>
#include <vector>

#include "samples/simcard/core/random.h"
#include "samples/simcard/node/hardware.h"

namespace dmprof::simcard {

struct Speculation {
  std::int64_t lookahead = 0;  // N; 0: no speculation
  // Probability that the draft at position k is accepted when those before it were; the last value repeats.
  std::vector<double> acceptance = {0.775};
  // The acceptance falls with the sequence: a_k / (1 + length / falloff); 0: it does not.
  double falloff = 0;
};

// Engines that work on different sequences; at least one.
std::uint32_t draft_engines(const Hardware& hardware);

// Seconds for the whole lookahead of one sequence. Draws where a coarse draft is checked.
double draft_seconds(const Hardware& hardware, const Speculation& speculation, Random& luck);

// Drafts accepted, 0 to the lookahead, of a sequence of that length.
std::int64_t accepted_drafts(const Speculation& speculation, double length, Random& luck);

}  // namespace dmprof::simcard
