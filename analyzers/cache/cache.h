// Metrics of prefetch and caches (block = unit of parameter or KV movement). METRICS.md, "prefetch and caches"; Srinath
// et al., HPCA 2007 for accuracy, coverage, lateness and pollution.
#pragma once

#include "analyzers/registry/catalogue.h"

namespace dmprof {

void register_cache(Catalogue& catalogue);

// Its groups, each in a file of its own.
void register_hits(Catalogue& catalogue);
void register_prefetch(Catalogue& catalogue);
void register_policy_gap(Catalogue& catalogue);
void register_prefix(Catalogue& catalogue);

}  // namespace dmprof
