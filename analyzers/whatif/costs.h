// What the stages of a step cost in a recording, and the requests it served: what the serving model runs on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzers/registry/view.h"
#include "analyzers/whatif/curve.h"

namespace dmprof::whatif {

// How drafts of a batch share what drafts them.
struct DraftSchedule {
  std::uint32_t engines = 0;  // speculation engines; 0: the engine drafts the whole batch in one pass a position
  bool interleave = false;    // engines change over after every token instead of after a whole draft
};

// Draft tokens that follow one another until the whole batch has its drafts: longest chain without engines, else the
// makespan of the batch's drafts on the engines in order of the batch. `lengths`: tokens that each sequence drafts.
double draft_rounds(const std::vector<std::uint32_t>& lengths, const DraftSchedule& schedule);

struct StepCosts {   // ns
  Curve verify;      // by target tokens of the pass, waits for blocks included
  Curve draft;       // a round of draft_rounds, by batch
  Curve prefill;     // by target tokens of the pass
  double other = 0;  // of a decode step: neither draft nor verification
  // Measured duration / what the above gives, of each decode step in order: the spread the model does not explain.
  std::vector<double> residuals;
  double draft_time = 0, verify_time = 0;  // of the decode steps in all, waits for blocks included
  std::uint64_t steps = 0;
};

StepCosts measure_costs(const View& view, const DraftSchedule& schedule);

struct ServedRequest {
  double arrive = 0;  // ns from the first arrival
  std::uint32_t prompt = 0;
  std::uint32_t decoded = 0;  // tokens of decode steps
};

struct Load {
  std::vector<ServedRequest> requests;  // in order of arrival
  std::uint32_t users = 0;              // above 0: closed, each sends its next request when one has ended
  std::uint32_t most_batch = 0;         // largest batch while others waited; 0: nobody ever waited
};

Load measure_load(const View& view);

}  // namespace dmprof::whatif
