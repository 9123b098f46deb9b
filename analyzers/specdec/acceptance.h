// Acceptance by position, shared by the metrics that print it and those that predict from it.
#pragma once

#include <vector>

#include "analyzers/registry/view.h"

namespace dmprof::specdec {

struct Acceptance {
  std::uint64_t steps = 0;      // drafting rows that ran to their end
  std::uint64_t cut_short = 0;  // drafting rows cut by the end of the text or max-tokens: counted apart, not used
  std::uint64_t accepted = 0;   // of `steps`
  struct Position {
    std::uint64_t verified = 0;  // rows whose draft was verified at least this deep
    std::uint64_t reached = 0;   // rows in which the position was verified and everything before it accepted
    std::uint64_t accepted = 0;  // of those
  };
  std::vector<Position> positions;  // [0] is the first draft token; trees: depth

  // Conditional a_k. Stops at the first position nobody reached.
  std::vector<double> conditional() const;
};

Acceptance measure_acceptance(std::span<const SpeculationStep> rows);

inline bool drafting(const SpeculationStep& row) { return row.verified > 0; }
inline bool cut_short(const SpeculationStep& row) {
  return row.cut == StepCut::end_of_text || row.cut == StepCut::max_tokens;
}

}  // namespace dmprof::specdec
