// Metrics of latency, throughput and contention. METRICS.md, "latency and throughput" and "contention".
#pragma once

#include "analyzers/registry/catalogue.h"

namespace dmprof {

void register_latency(Catalogue& catalogue);

// Its groups, each in a file of its own.
void register_throughput(Catalogue& catalogue);
void register_contention(Catalogue& catalogue);
void register_tail(Catalogue& catalogue);
void register_prefill(Catalogue& catalogue);

}  // namespace dmprof
