// Turns a rule's fixes into what to type for the engine that was recorded.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rules/engine/diagnose.h"

namespace dmprof::rules {

// What the recording says about a fix's `when`.
enum class Support { shown, not_shown, unknown };

// Those that change something: not what the knob is set to already, not a raise of what is higher, nothing outside the
// knob's range, and no knob that is missing among those the engine registered; where it registered none at all, every
// fix stays, its present value unknown. What the recording supports comes first, what can be typed before what cannot;
// then, marked, proposals for trial. Otherwise in the rule's order. `support` has an entry a fix; missing ones count as
// shown.
std::vector<SuggestedFix> suggest(const std::vector<Fix>& fixes, const Context& context,
                                  std::span<const Support> support = {});

// The command to run with one knob changed, as the knob says it is set; "" when the knob does not say, or is set by a
// path.
std::string command_with(const Knob& knob, const std::string& value, const Context& context);

// The context of a command that was given one more setting; empty when the knob does not say how it is set, or through
// a file.
std::optional<Context> with_setting(const Knob& knob, const std::string& value, const Context& context);
// What to type for the context's command, variables in front.
std::string line_of(const Context& context);

}  // namespace dmprof::rules
