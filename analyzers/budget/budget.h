// Where the wall time of decoding goes: time_budget, compute_occupancy, memory_stall_share.
#pragma once

#include "analyzers/registry/catalogue.h"

namespace dmprof {

void register_budget(Catalogue& catalogue);

}  // namespace dmprof
