// What a scenario can do: each experiment reads its settings, simulates, and gives figures.
#pragma once

#include <span>
#include <string_view>

#include "samples/simcard/scenario/conduct.h"
#include "samples/simcard/scenario/scenario.h"

namespace dmprof::simcard {

// `settings` is the mapping of the scenario file; the experiment calls finish() on it, so that unknown keys are
// refused.
struct Experiment {
  std::string_view name;
  Result<Figures> (*run)(Section settings, const Conduct& conduct);
};

// In serving_experiments.cc
Result<Figures> run_batch_table(Section settings, const Conduct& conduct);
Result<Figures> run_speculation_gain(Section settings, const Conduct& conduct);
Result<Figures> run_before_after(Section settings, const Conduct& conduct);
// In memory_experiments.cc
Result<Figures> run_kv_footprint(Section settings, const Conduct& conduct);
Result<Figures> run_attention_window(Section settings, const Conduct& conduct);
Result<Figures> run_long_context(Section settings, const Conduct& conduct);
Result<Figures> run_kv_techniques(Section settings, const Conduct& conduct);
// In tiers_experiment.cc
Result<Figures> run_tiers(Section settings, const Conduct& conduct);
// In network_experiments.cc
Result<Figures> run_limits(Section settings, const Conduct& conduct);
Result<Figures> run_optical(Section settings, const Conduct& conduct);
// In moe_experiment.cc, split_experiment.cc, outlook_experiments.cc
Result<Figures> run_moe(Section settings, const Conduct& conduct);
Result<Figures> run_split(Section settings, const Conduct& conduct);
Result<Figures> run_scaling(Section settings, const Conduct& conduct);
Result<Figures> run_next_generation(Section settings, const Conduct& conduct);

std::span<const Experiment> node_experiments();

}  // namespace dmprof::simcard
