// Metrics of memory: footprint, KV cache, preemption, allocation. METRICS.md, "memory".
#pragma once

#include "analyzers/registry/catalogue.h"

namespace dmprof {

void register_memory(Catalogue& catalogue);
void register_kv(Catalogue& catalogue);  // a part of it, in a file of its own

}  // namespace dmprof
