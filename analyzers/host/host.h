// Metrics of the host, of power and of the device's state. METRICS.md, "host, power, device".
#pragma once

#include "analyzers/registry/catalogue.h"

namespace dmprof {

void register_host(Catalogue& catalogue);
void register_device(Catalogue& catalogue);  // a part of it, in a file of its own

}  // namespace dmprof
