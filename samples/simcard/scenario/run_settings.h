// The part of a scenario's settings that describes a serving run; shared by the experiments that serve.
#pragma once

#include <cstdint>
#include <memory>

#include "dmprof/base/description/section.h"
#include "samples/simcard/scenario/conduct.h"
#include "samples/simcard/scenario/scenario.h"
#include "samples/simcard/serve/serve.h"

namespace dmprof::simcard {

struct RunSettings {
  ServeSpec spec;
  workload::Arrivals arrivals;
  workload::Lengths prompts, outputs;
  std::string trace;  // a file; empty: generated
  std::string where;  // "file:line: settings", for messages about the run
  Witness* witness = nullptr;
  // Of all runs of these settings and their copies, the one that is furthest from Little's law: 1 where it holds.
  std::shared_ptr<double> little = std::make_shared<double>(1);

  // The same settings under the eyes of whoever watches; their copies would be watched too, so make none of these.
  RunSettings watched(const Conduct& conduct) const {
    RunSettings run = *this;
    run.witness = conduct.witness;
    return run;
  }
  // Serves with `users` in a closed loop and as many in a step; every run of an experiment has its own seed stream.
  Result<ServeResult> closed_loop(std::int64_t users) const;
  // Serves the arrivals as described.
  Result<ServeResult> as_described() const;
  Figure littles_law() const { return {"littles_law", *little, "x"}; }
};

// Keys: hardware, model, weight_bytes, lookahead, acceptance, falloff, prompt, output, length_spread, requests,
// warm_up, most_active, rate or users or trace, burst_factor, burst_share, burst, verify (all | ready), prefill (none |
// together), streamed_weights, pipeline_stages, kv_share, expert_skew.
Result<RunSettings> read_run(Section& settings, std::uint64_t seed);

// Names of presets and models are opened where they are read, so that an error names the scenario's line.
Result<Hardware> read_hardware(Section& settings, std::string_view key);
Result<Model> read_model(Section& settings, std::string_view key);

}  // namespace dmprof::simcard
