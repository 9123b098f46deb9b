// What the speculation engines of cards did: how busy they were and who waited for one.
#pragma once

#include <cstdint>
#include <map>

#include "analyzers/registry/statistics.h"
#include "analyzers/registry/view.h"

namespace dmprof::latency {

// The speculation engines of all cards, as the recording registers them; 0 = none.
std::uint32_t speculation_engines(const Recording& recording);

struct EngineUse {
  double busy = 0, waiting = 0;                     // engine-ns, request-ns
  RatioEstimate busy_by_step, waiting_by_step;      // over the steps' own time
  std::map<std::uint64_t, double> wait_of_request;  // ns, summed over its steps
  std::uint64_t steps = 0;
  // From the slices `draft_job`, which say when an engine worked for which request (their argument). Else estimated: a
  // request of the batch holds one engine while the batch drafts, and what exceeds its card's engines waits as long.
  bool measured = false;
};
// Requests meet the engines of their own card only: a step's batch is compared with its unit's engines (view.h).
EngineUse engine_use(const View& view, const Scope& scope, std::uint32_t engines);

}  // namespace dmprof::latency
