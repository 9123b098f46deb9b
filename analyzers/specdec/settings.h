// Judging a series of settings of speculation by what each of them really gave. Apart from any recording.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace dmprof::specdec {

struct Setting {
  double lookahead = 0;  // draft tokens per step; 0: speculation off
  std::string name;      // "N = 2, p_min = 0.6"
  double tokens_per_second = 0;
  std::optional<double> tokens_per_step;  // nothing: not known
};

// The setting with the most tokens/s, whatever its acceptance; the shallower one of two that are alike. `settings` must
// not be empty.
std::size_t best_setting(std::span<const Setting> settings);

// What the positions between two settings add (tokens a step) and cost (share of tokens/s; negative: they gain).
struct Margin {
  double tokens = 0, cost = 0;
};
// Nothing without the tokens per step of both, or when the deeper one is not deeper.
std::optional<Margin> margin(const Setting& shallower, const Setting& deeper);

}  // namespace dmprof::specdec
