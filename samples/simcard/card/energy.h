// What a card's work costs in joules, by part.
#pragma once

#include <cstdint>

#include "samples/simcard/card/parameters.h"
#include "samples/simcard/card/statistics.h"
#include "samples/simcard/memory/module_cache.h"
#include "samples/simcard/memory/store.h"

namespace dmprof::simcard {

struct CardEnergy {  // joules
  double l2 = 0, l1 = 0, l0 = 0, compute = 0, idle = 0;
  double total() const { return l2 + l1 + l0 + compute + idle; }
};

// Of what one card, or several together, did in so many seconds of all of them; `l2_bytes` were moved.
CardEnergy energy_of(const CardParameters& parameters, const CardStatistics& card, const ModuleCacheStatistics& l0,
                     const StoreStatistics& l1, std::uint64_t l2_bytes, double card_seconds);

}  // namespace dmprof::simcard
