// How good a draft is: the probability that it proposes what the target would, by its size, by position in the draft
// and by sequence length. A stated curve, not a law: larger drafts are right more often, later positions and longer
// contexts less often; or what was measured of a real engine, which takes its place.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "samples/simcard/speculation/fitted_acceptance.h"

namespace dmprof::simcard {

struct AcceptanceCurve {
  double miss_at_1b = 0.32;       // 1 - a for a draft of one billion parameters, first position, short context
  double size_exponent = 0.5;     // miss = miss_at_1b x size^-exponent: loss falls as a power of size (scaling laws)
  double position_decay = 0.985;  // a_k = a_1 x decay^(k-1)
  double length_loss = 0.01;      // a falls by this share for every doubling of the length beyond `short_length`
  std::uint32_t short_length = 4096;
  // Measured instead, where there is one; `size_exponent` goes beyond its sizes.
  std::shared_ptr<const FittedAcceptance> fitted = nullptr;
  double fitted_billions = 1;  // what the first draft of a fit file stands for

  // Conditional acceptance at position k = 1, 2, ...; always in [0, 1].
  double at(double billions, std::uint32_t position, std::uint64_t length) const;
};

// Takes the acceptance of a file that `dm-simcard fit` wrote; leaves the curve as it is where that fails.
Status use_fit(const std::string& path, AcceptanceCurve& curve);

}  // namespace dmprof::simcard
