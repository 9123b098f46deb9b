// Metrics of the measurement itself: what was lost, what it cost. METRICS.md, "instrument".
#pragma once

#include "analyzers/registry/catalogue.h"

namespace dmprof {

void register_instrument(Catalogue& catalogue);
void register_readings(Catalogue& catalogue);  // a part of it, in a file of its own

}  // namespace dmprof
