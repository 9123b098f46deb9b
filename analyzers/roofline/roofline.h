// Bandwidth, compute and the roofline between them. METRICS.md, "bandwidth, compute, roofline". Peaks are measured
// ones: by calibration, or by construction of the tier; a datasheet's figure is only ever shown beside.
#pragma once

#include "analyzers/registry/catalogue.h"

namespace dmprof {

void register_roofline(Catalogue& catalogue);

// Its groups, each in a file of its own.
void register_bandwidth(Catalogue& catalogue);
void register_compute(Catalogue& catalogue);
void register_intensity(Catalogue& catalogue);
void register_links(Catalogue& catalogue);
void register_parts(Catalogue& catalogue);

}  // namespace dmprof
