#include "samples/simcard/serve/drafting.h"

#include <algorithm>

namespace dmprof::simcard {

std::uint32_t draft_engines(const Hardware& h) {
  if (h.engines == 0) return 1;
  return static_cast<std::uint32_t>(h.mirrored ? h.engines : h.engines * h.cards);
}

double draft_seconds(const Hardware& h, const Speculation& speculation, Random& luck) {
  const auto lookahead = static_cast<double>(speculation.lookahead);
  if (h.coarse.lookahead == 0) return lookahead * h.draft_token;
  double time = 0;
  for (std::int64_t have = 0; have < speculation.lookahead; ++have) {  // a fine pass gives one token and what was
                                                                       // guessed right
    time += static_cast<double>(h.coarse.lookahead) * h.coarse.token + h.draft_token;
    for (std::int64_t i = 0; i < h.coarse.lookahead && luck.chance(h.coarse.acceptance); ++i) ++have;
  }
  return time;
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
