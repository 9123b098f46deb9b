// What drafting and verification cost in this recording, in units of a one-token target step at the same batch size.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzers/registry/view.h"

namespace dmprof::specdec {

inline constexpr std::uint64_t fewest_one_token_steps = 3;  // to know what a step without a draft costs

struct StepSample {
  std::uint32_t batch = 0;
  std::uint32_t width = 0;      // target tokens per sequence, rounded
  std::uint32_t positions = 0;  // longest draft in the batch: draft passes that ran one after the other
  bool baseline = false;        // no speculation on purpose
  double draft_time = 0, verify_time = 0, duration = 0;  // ns
  double emitted = 0;
};

// Decode and baseline steps of the scope, warm-up and steps without a known batch left out.
std::vector<StepSample> step_samples(const View& view, const Scope& scope);

struct Costs {
  std::optional<double> draft;             // c
  std::map<std::uint32_t, double> verify;  // v(n) by tokens per sequence, n > 1
  std::optional<double> speedup;           // measured tokens/s over tokens/s without speculation
  std::uint32_t usual_width = 0;           // most common n > 1, 0 = none
  std::uint64_t one_token_steps = 0;       // target steps of one token per sequence, at a batch that also speculates
  std::uint64_t drafting_steps = 0;        // at a batch for which one-token steps exist
  bool natural_baseline = false;           // one-token steps are the engine's own undrafted steps, not baseline windows
};

// Batches are matched: cost at batch b is taken over one-token steps at batch b, then averaged by how often b
// speculates.
Costs measure_costs(std::span<const StepSample> samples);
Costs measure_costs(std::span<const StepSample> samples, std::span<const std::size_t> drawn);

}  // namespace dmprof::specdec
