// Turns a rule's fixes into what to type for the engine that was recorded.
#pragma once

#include <vector>

#include "rules/engine/diagnose.h"

namespace dmprof::rules {

// Those that change something: not what the knob is set to already, not a raise of what is higher, nothing outside the
// knob's range. Knobs the engine registered come first, otherwise in the rule's order.
std::vector<SuggestedFix> suggest(const std::vector<Fix>& fixes, const Context& context);

// The command to run with one knob changed, as the knob says it is set; "" when the knob does not say, or is set by a
// path.
std::string command_with(const Knob& knob, const std::string& value, const Context& context);

}  // namespace dmprof::rules
