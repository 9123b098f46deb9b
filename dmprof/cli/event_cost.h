// What one event costs the program that emits it, measured on this machine just before a recording.
#pragma once

#include <cstdint>

#include "dmprof/base/error.h"

namespace dmprof::cli {

// Nanoseconds per event, median of several rounds over the kinds an engine emits, with a collector attached. Starts a
// short-lived child that emits while this process collects; call it before any thread is started. environment when no
// process could be started or attached to, or when a ring of this size did not hold every event: dropping one is
// cheaper than recording it. The default holds all rounds even if nobody reads meanwhile.
Result<double> measure_event_cost(std::uint64_t ring_bytes = 16u << 20);

}  // namespace dmprof::cli
