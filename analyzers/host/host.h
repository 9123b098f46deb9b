// Metrics of the host, of power and of the device's state. METRICS.md, "host, power, device".
#pragma once

#include "analyzers/registry/catalogue.h"

namespace dmprof {

void register_host(Catalogue& catalogue);

}  // namespace dmprof
