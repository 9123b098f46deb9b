// Acceptance as it was measured of a real engine's drafts, as a function of draft size, position and length.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dmprof/base/error.h"

namespace dmprof::simcard {

struct FittedAcceptance {
  struct Draft {
    double billions = 0;                         // the size it stands for
    std::vector<double> by_position;             // conditional acceptance; [0]: first draft token; never empty
    std::vector<std::uint32_t> length_from;      // tokens in the sequence from which a bucket holds, ascending
    std::vector<std::vector<double>> by_length;  // [bucket][position]
  };
  std::vector<Draft> drafts;  // by size, ascending; never empty

  // Conditional acceptance at position k = 1, 2, ...; in [0, 1]. Positions beyond the measured ones take the last, as
  // lengths do. Between two drafts the figure is linear in the logarithm of size; beyond the smallest and the largest
  // the miss goes on falling as size^-`size_exponent`.
  double at(double billions, std::uint32_t position, std::uint64_t length, double size_exponent) const;
};

// Of a file that `dm-simcard fit` wrote. Its first draft stands for one of `billions` parameters and the others for
// sizes in proportion to their bytes. A bucket of lengths with fewer than 200 verdicts on a position takes that
// position's figure over all lengths. Errors name file, line and key.
Result<FittedAcceptance> open_acceptance(const std::string& path, double billions);

}  // namespace dmprof::simcard
