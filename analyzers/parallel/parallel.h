// Metrics of work that is spread over cards and pools. METRICS.md, "parallel"; link_utilization is with the transfers
// in roofline.
#pragma once

#include "analyzers/registry/catalogue.h"

namespace dmprof {

void register_parallel(Catalogue& catalogue);

}  // namespace dmprof
