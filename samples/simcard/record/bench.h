// What a step without speculation takes, measured on a second card like the first: the unit of draft_cost_ratio and
// verify_cost_ratio, which a card that always drafts never shows. Its steps are recorded as baseline steps, which every
// other metric leaves out.
#pragma once

#include <cstdint>
#include <map>

#include "samples/simcard/card/parameters.h"

namespace dmprof::simcard {

// Decode steps by batch size.
using BatchCounts = std::map<std::uint32_t, std::uint64_t>;

// For each of the most usual batch sizes some steps, on a track "bench" beside the run: from its beginning, and none
// beyond `ended`.
void record_bench(const CardParameters& parameters, std::uint64_t seed, const BatchCounts& batches, SimTime ended,
                  std::uint32_t clock);

}  // namespace dmprof::simcard
