// How often a real engine's drafts were accepted: the part of a fitted twin that a simulated card can use as well.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dmprof/base/error.h"

namespace dmprof::twin {

class CheckedNode;

// Acceptance by position in the chain and by length of the sequence.
struct AcceptanceCell {
  std::uint64_t reached = 0;  // everything before was accepted
  std::uint64_t accepted = 0;
};
struct AcceptanceCounts {
  std::vector<AcceptanceCell> by_position;             // [0]: first draft token
  std::vector<std::uint32_t> length_from;              // tokens in the sequence at which a bucket begins
  std::vector<std::vector<AcceptanceCell>> by_length;  // [bucket][position]
};
struct DraftCurve {
  std::string draft;
  std::uint64_t parameter_bytes = 0;  // the draft's size
  AcceptanceCounts counts;
};

// One entry of a fit file's `acceptance`.
DraftCurve read_curve(const CheckedNode& node);

// The drafts of a file that `dm-simcard fit` wrote, the base recording's first; the rest of the file is not looked at.
// environment where the file cannot be read; bad_input, naming file, line and key, where it is no such file.
Result<std::vector<DraftCurve>> read_acceptance(const std::string& path);

}  // namespace dmprof::twin
