// Serves the recorded requests again, step by step, under other costs and limits: the queue model.
//
// A step drafts for every sequence of the batch, verifies all of them in one pass, and emits what was accepted. New
// requests are admitted between steps, up to the limit, and their prompts computed in a step of their own that
// everybody waits for. Which drafts are accepted is drawn from a_k; the luck of a token of a request is the same under
// every setting, so that two settings differ by what was changed and not by the dice.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzers/whatif/costs.h"

namespace dmprof::whatif {

struct Serving {
  std::vector<double> acceptance;  // a_k; its size is the lookahead
  DraftSchedule schedule;
  std::uint32_t limit = 0;  // requests in the batch; 0: no limit
  double draft_scale = 1;   // on the costs' times
  double verify_scale = 1;
  double beyond = 1;  // see Curve::at
};

struct Served {
  double tokens = 0, wall = 0;  // of decode steps; wall as `throughput` takes it: pauses included, prefill not
  double idle = 0;              // of it, nobody was there
  double busy = 0;              // in decode steps
  double rows = 0, accepted = 0, drafting_rows = 0;
  std::vector<double> steps, gaps, latencies;  // ns: decode steps, gaps between tokens, arrival to end

  double throughput() const { return wall > 0 ? tokens * 1e9 / wall : 0; }
  double decode_throughput() const { return busy > 0 ? tokens * 1e9 / busy : 0; }
};

Served serve(const Load& load, const StepCosts& costs, const Serving& serving, std::uint64_t seed);

}  // namespace dmprof::whatif
