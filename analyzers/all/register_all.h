// Every metric of METRICS.md in one catalogue.
#pragma once

#include "analyzers/registry/catalogue.h"

namespace dmprof {

void register_all(Catalogue& catalogue);
Catalogue full_catalogue();

}  // namespace dmprof
