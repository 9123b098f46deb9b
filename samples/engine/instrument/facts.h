// What the engine tells about itself once: the knobs that can be turned and how, and the capacities of what it runs on.
#pragma once

#include "samples/engine/runtime/settings.h"

namespace dmengine {

// Every knob with its value, its range, and the handle that really turns it in this run: the flag where a flag was given (it
// beats the variable) or where there is no variable.
void register_knobs(const Settings& settings);

}  // namespace dmengine
