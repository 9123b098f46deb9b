// What of a recording is not to be trusted, found out before any finding rests on it: events that were lost, values
// that cannot be, and what the instrument rules of the playbook find.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "rules/engine/condition.h"
#include "rules/engine/diagnose.h"

namespace dmprof::rules {

struct Instruments {
  std::map<std::string, std::set<std::size_t>> distrusted;  // metric to the notes about it
  std::optional<std::size_t> loss;                          // the note that distrusts every count
  std::optional<std::size_t> too_short;                     // the note that too little was recorded
};

// Adds a note for everything that is wrong with the recording itself.
Instruments check_instruments(Diagnosis& diagnosis, std::span<const MetricValue> values, const Context& context);

// Adds the note of an instrument rule that fired on `columns` and said `message`.
void distrust(Diagnosis& diagnosis, Instruments& instruments, const Rule& rule, Text message,
              const std::vector<std::string>& columns, const Catalogue& catalogue, std::span<const MetricValue> values);

// Notes the rule under everything distrusted that its columns rest on; false when there is none.
bool withhold(Diagnosis& diagnosis, const Instruments& instruments, const Rule& rule,
              const std::vector<std::string>& columns, const Catalogue& catalogue);

// Why nothing can be cleared by these columns: "too many events were lost to clear it", "the recording is too short to
// clear it", "… is distrusted
// (instrument-…)"; "" when they are fine.
std::string why_not_cleared(const Diagnosis& diagnosis, const Instruments& instruments,
                            const std::vector<std::string>& columns, const Catalogue& catalogue);

}  // namespace dmprof::rules
