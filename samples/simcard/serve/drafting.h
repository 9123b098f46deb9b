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

// What drafting the lookahead of one sequence takes: passes of the draft, the tokens they look at, and the tokens of
// the coarse draft before them. With one level a pass is a token.
struct DraftWork {
  std::int64_t passes = 0, checked_tokens = 0, coarse_tokens = 0;
};
// Draws where a coarse draft is checked.
DraftWork draft_work(const Hardware& hardware, const Speculation& speculation, Random& luck);
// Seconds on an engine: a pass is bound by what it reads, however many tokens it looks at.
double draft_seconds(const Hardware& hardware, const DraftWork& work);

// Drafts accepted, 0 to the lookahead, of a sequence of that length.
std::int64_t accepted_drafts(const Speculation& speculation, double length, Random& luck);

}  // namespace dmprof::simcard
