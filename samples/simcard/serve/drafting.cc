#include "samples/simcard/serve/drafting.h"

#include <algorithm>

namespace dmprof::simcard {

std::uint32_t draft_engines(const Hardware& h) {
  if (h.engines == 0) return 1;
  return static_cast<std::uint32_t>(h.mirrored ? h.engines : h.engines * h.cards);
}

DraftWork draft_work(const Hardware& h, const Speculation& speculation, Random& luck) {
  DraftWork work;
  for (std::int64_t have = 0; have < speculation.lookahead;) {
    // A fine pass gives one token and what was guessed right; more than is still wanted is not guessed.
    const std::int64_t guesses = std::min(h.coarse.lookahead, speculation.lookahead - have - 1);
    work.coarse_tokens += guesses;
    work.checked_tokens += guesses + 1;
    ++work.passes;
    ++have;
    for (std::int64_t i = 0; i < guesses && luck.chance(h.coarse.acceptance); ++i) ++have;
  }
  return work;
}

double draft_seconds(const Hardware& h, const DraftWork& work) {
  return static_cast<double>(work.passes) * h.draft_token + static_cast<double>(work.coarse_tokens) * h.coarse.token;
}

std::int64_t accepted_drafts(const Speculation& speculation, double length, Random& luck) {
  const auto& curve = speculation.acceptance;
  std::int64_t accepted = 0;
  for (; accepted < speculation.lookahead; ++accepted) {
    double a = curve[std::min<std::size_t>(static_cast<std::size_t>(accepted), curve.size() - 1)];
    if (speculation.falloff > 0) a /= 1 + length / speculation.falloff;
    if (!luck.chance(a)) break;
  }
  return accepted;
}

}  // namespace dmprof::simcard
