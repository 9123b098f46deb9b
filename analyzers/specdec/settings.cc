#include "analyzers/specdec/settings.h"

namespace dmprof::specdec {

std::size_t best_setting(std::span<const Setting> settings) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < settings.size(); ++i) {
    const Setting &one = settings[i], &other = settings[best];
    const bool alike = one.tokens_per_second == other.tokens_per_second;
    if (one.tokens_per_second > other.tokens_per_second || (alike && one.lookahead < other.lookahead)) best = i;
  }
  return best;
}

std::optional<Margin> margin(const Setting& shallower, const Setting& deeper) {
  if (!shallower.tokens_per_step || !deeper.tokens_per_step || deeper.lookahead <= shallower.lookahead ||
      shallower.tokens_per_second <= 0)
    return std::nullopt;
  return Margin{*deeper.tokens_per_step - *shallower.tokens_per_step,
                1 - deeper.tokens_per_second / shallower.tokens_per_second};
}

}  // namespace dmprof::specdec
