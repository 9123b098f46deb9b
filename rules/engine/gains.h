// Predicted gains for the fixes of a diagnosis, from the what-if models only, and the order that follows from them.
#pragma once

#include <functional>
#include <span>

#include "analyzers/whatif/whatif.h"
#include "rules/engine/diagnose.h"

namespace dmprof::rules {

// What-if's answer for one setting; an error counts as no prediction and its message as the reason.
using Predict = std::function<Result<whatif::Prediction>(std::span<const whatif::Setting>)>;

// Asks about every fix whose knob the engine registered and whose value can be typed. Then, in each finding: fixes that
// gain for certain (their whole interval above 1) by their gain, fixes that probably do, those nothing is known of,
// and, marked as trials, those that do not. A prediction outweighs a fix's `when`. Findings of the same severity go by
// the gain of their first fix times the rule's confidence, then as before.
void add_gains(Diagnosis& diagnosis, const Predict& predict);

}  // namespace dmprof::rules
