// What the engine tells about itself once: the knobs that can be turned and how, the shape of its model, and the
// capacities of what it runs on.
#pragma once

#include "samples/engine/instrument/block_recorder.h"
#include "samples/engine/model/weights.h"
#include "samples/engine/runtime/settings.h"

namespace dmengine {

// Every knob with its value, its range, and the handle that really turns it in this run: the flag where a flag was
// given (it beats the variable) or where there is no variable.
void register_knobs(const Settings& settings);

// The shape of the target, for advice about it.
void register_model(const ModelLayout& target, const Settings& settings);

// Main memory and the compute threads; their peaks are not known to the engine: a recording has them from
// `dmprof calibrate`, which measures them.
void register_machine(const Settings& settings);

// The streamed tiers: the resident budget, which a policy manages, over the backing store. `link_bandwidth` is that of
// an imitated link by construction, 0 where it has to be measured.
StreamTiers register_stream_tiers(std::uint64_t resident_bytes, std::uint64_t backing_bytes, double link_bandwidth);

}  // namespace dmengine
