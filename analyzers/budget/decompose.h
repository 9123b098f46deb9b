// Divides wall time into disjoint parts. Every nanosecond of the scope's time (View::time) goes to exactly one part, so
// the parts sum to the whole. Where things overlap the first of this list takes it:
//
//   memory_stall   a consumer stands still for a block nobody had asked for (demand miss), within a step
//   prefetch_wait  a consumer stands still for a block whose prefetch is still in flight, within a step
//   draft          candidate generation, waits taken out
//   verify         the target's pass, waits taken out
//   host           acceptance, sampling, path prediction, prefetch scheduling and what else the engine names as its own
//                  work
//   transfer       a transfer runs and nothing above does, within a step: the copy is not hidden and the step waits
//                  for it; one that runs on in a pause holds nobody up
//   host           what is left of a step, and pauses between steps while a request is being served
//   queue          no step runs, no request is being served, and at least one waits
//   idle           nobody is there
//
// Draft and verify lie where the engine's slices say (candidate_generation, verification and their short names);
// without slices they are taken to follow one another from the start of the step, as long as Step says. Several
// computing tracks are divided each for itself over its unit's wall time and added.
#pragma once

#include <cstdint>

#include "analyzers/registry/statistics.h"
#include "analyzers/registry/view.h"

namespace dmprof::budget {

struct Parts {  // ns
  double queue = 0, draft = 0, verify = 0, memory_stall = 0, prefetch_wait = 0, transfer = 0, host = 0, idle = 0;
  double wall = 0;             // their sum
  double compute = 0;          // draft and verify with the waits inside them: occupancy
  double compute_waiting = 0;  // of `compute`, the waits
  double hidden_transfer = 0;  // transfers that ran while something else did and nobody waited: not part of the sum
  std::uint64_t steps = 0;
  bool knows_requests = false;  // without request events a pause counts as idle

  // The same shares step by step (a step and the pause after it), for intervals: part / wall, compute / wall,
  // compute_waiting / compute.
  struct OverSteps {
    RatioEstimate queue, draft, verify, memory_stall, prefetch_wait, transfer, host, idle, compute, compute_waiting;
  } over_steps;
};

Parts decompose(const View& view, const Scope& scope);

}  // namespace dmprof::budget
