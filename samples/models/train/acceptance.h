// How many of a draft's proposals the target accepts. Lossless speculation emits exactly what the target alone would
// emit, so the target's own text is generated once and each of its tokens y gets the probability that a draft's
// proposal at that place, after the same text, was accepted and became y: greedy 1 or 0 (are the two most likely tokens
// the same), sampled min(1, q(y) / p(y)) (Leviathan et al. 2023, the rejection rule seen from the emitted token). Every
// lookahead N follows from these by exact expectation; no draft is ever rolled out and no random number is drawn.
#pragma once

#include <vector>

namespace dmprof::train {

// Acceptance probability of each generated position of one sequence.
using AcceptanceTrace = std::vector<double>;

struct AcceptanceTotals {
  double steps = 0;
  double tokens = 0;
  std::vector<double> reached, accepted;  // by position in the proposal, from 0

  // Accepted over reached of position i: the acceptance given that all before it were accepted.
  double conditional(std::size_t i) const { return reached[i] > 0 ? accepted[i] / reached[i] : 0; }
  double mean() const;
  double tokens_per_step() const { return tokens / steps; }
};

// Expected totals of decoding the sequences with `lookahead` proposals a step, the first `length` tokens of each.
AcceptanceTotals speculate(const std::vector<AcceptanceTrace>& traces, int lookahead, std::size_t length);

// Whether the sequence ends in a cycle: at least three rounds, and 24 tokens, of the same period.
bool ends_in_loop(const std::vector<unsigned short>& tokens, std::size_t length);

}  // namespace dmprof::train
