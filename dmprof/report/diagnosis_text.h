// A diagnosis for people: the limiting part first, shares that sum to 100 %, then findings, what is not the problem,
// and what the instrument itself has to say.
#pragma once

#include <string>
#include <vector>

#include "dmprof/report/style.h"
#include "rules/engine/diagnose.h"

namespace dmprof::report {

// How much of what is not the problem is told: the rules whose findings would have been the most severe with the number
// that cleared them and the others by name, or every rule with its reason.
enum class Detail { brief, full };

// What the rules and this report say is in `language`; names of metrics, knobs and parts, definitions, commands, and
// reasons why a figure is missing or distrusted are in English in either.
std::string diagnosis_text(const rules::Diagnosis& diagnosis, const Style& style,
                           rules::Language language = rules::Language::en, Detail detail = Detail::brief);

// Shares in tenths of a percent that sum to exactly the rounded sum of `shares`: largest remainders are rounded up, so
// that a printed budget adds up.
std::vector<int> rounded_shares(const std::vector<double>& shares);

}  // namespace dmprof::report
