// A request that is being worked on, and what its draft will turn out to be right about. Internal to the twin.
#pragma once

#include <cstdint>
#include <vector>

#include "samples/simcard/core/random.h"
#include "samples/simcard/twin/description.h"

namespace dmprof::twin {

// Verdicts of one run: recorded ones, the rest drawn.
class Verdicts {
 public:
  // `draft` may be null: no speculation.
  Verdicts(const Description& description, const DraftProfile* draft, simcard::Random& random);

  // Draft tokens that stand when `length` are proposed behind `position` tokens of the request's sequence.
  std::uint32_t accepted(std::size_t request, std::uint32_t position, std::uint32_t length);

 private:
  double chance(std::size_t place) const;  // in the chain, from 0

  const Description& description_;
  const DraftProfile* draft_;
  simcard::Random& random_;
  std::vector<std::vector<Match>> matches_;
};

struct SequenceModel {
  std::size_t request = 0;
  std::uint32_t tokens = 0;  // the prompt, then what was emitted
  std::uint32_t prompt = 0;
  std::uint32_t end = 0;       // tokens at which it ends
  std::uint32_t computed = 0;  // positions in the target's KV cache
  std::uint32_t draft_known = 0;
  bool by_limit = true;

  // Of the step in progress.
  std::uint32_t chunk = 0;
  std::uint32_t wanted = 0;
  std::uint32_t chain = 0;

  std::uint32_t prompt_left() const { return computed < prompt ? prompt - computed : 0; }
  // A text that an end of text ended did not know it beforehand: its drafts were not shortened.
  std::uint32_t room() const { return by_limit ? end - tokens : UINT32_MAX; }
};

}  // namespace dmprof::twin
