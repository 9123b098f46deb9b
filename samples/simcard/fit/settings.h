// "lookahead=8,resident=4MiB": the knobs of a prediction as people type them, under the names the engine registers.
#pragma once

#include <string>
#include <string_view>

#include "dmprof/base/error.h"
#include "samples/simcard/fit/fit.h"

namespace dmprof::twin {

// What a prediction runs with: settings, and the link where it was turned.
struct Question {
  Settings settings;
  Link link;
  bool other_link = false;
};

// Starts from the base recording's settings. Accepts several lists. usage: an unknown knob (with the nearest known
// one), a knob no recording can answer for, a value of nonsense, a knob given twice; cannot_answer: a draft that was
// not recorded.
Result<Question> parse_settings(const Fit& fit, std::string_view text);

// "lookahead=5 draft=… resident=2097152 …", the same names.
std::string describe(const Settings& settings);

}  // namespace dmprof::twin
