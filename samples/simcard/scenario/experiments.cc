#include "samples/simcard/scenario/experiments.h"

#include <array>

namespace dmprof::simcard {

std::span<const Experiment> node_experiments() {
  static constexpr std::array all = {
      Experiment{"batch-table", run_batch_table},
      Experiment{"speculation-gain", run_speculation_gain},
      Experiment{"before-after", run_before_after},
      Experiment{"kv-footprint", run_kv_footprint},
      Experiment{"attention-window", run_attention_window},
      Experiment{"long-context", run_long_context},
      Experiment{"kv-techniques", run_kv_techniques},
      Experiment{"tiers", run_tiers},
      Experiment{"limits", run_limits},
      Experiment{"optical", run_optical},
      Experiment{"moe", run_moe},
      Experiment{"split", run_split},
      Experiment{"scaling", run_scaling},
      Experiment{"next-generation", run_next_generation},
  };
  return all;
}

}  // namespace dmprof::simcard
