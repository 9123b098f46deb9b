// Requests on a node, step by step: admission, prefill, drafts on the speculation engines, verification, acceptance.
// Events are steps, draft jobs and arrivals; a step's time comes from step_cost(). Deterministic by seed; one run
// belongs to one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/workload/arrivals.h"
#include "samples/simcard/serve/ledger.h"
#include "samples/simcard/serve/statistics.h"
#include "samples/simcard/serve/step.h"

namespace dmprof::simcard {

struct Speculation {
  std::int64_t lookahead = 0;  // N; 0: no speculation
  // Probability that the draft at position k is accepted when those before it were; the last value repeats.
  std::vector<double> acceptance = {0.775};
  // The acceptance falls with the sequence: a_k / (1 + length / falloff); 0: it does not.
  double falloff = 0;
};

enum class Prefill {
  none,      // prompts are already in the cache
  together,  // on the same cards, between two steps: decoding waits
  apart,     // on `prefill_nodes` nodes of their own, then the cache crosses the link
};

struct ServeSpec {
  Hardware hardware;
  Model model;
  Parallel parallel;
  Speculation speculation;
  Prefill prefill = Prefill::none;
  Hardware prefill_hardware;  // of `apart`
  std::int64_t prefill_nodes = 1;
  std::int64_t most_active = 16;        // requests in a step
  bool wait_for_all_drafts = true;      // false: a step verifies whichever drafts are ready
  std::int64_t requests = 1000;         // issued in all; the run ends when they are done
  std::int64_t warm_up = 0;             // steps that are left out of step times, gaps and throughput
  std::int64_t most_waiting = 100'000;  // more waiting requests are an overload
  std::uint64_t seed = 1;
};

struct ServeResult {
  bool overloaded = false;  // the queue never drained; other figures then cover what was done until the verdict
  std::uint64_t issued = 0, completed = 0;
  std::uint64_t tokens = 0;        // emitted by completed and running requests
  std::uint64_t tokens_asked = 0;  // of completed requests
  std::uint64_t steps = 0, drafted = 0, accepted = 0;
  double seconds = 0;     // of the whole run
  double throughput = 0;  // tokens/s after warm-up, while requests were still being issued
  Distribution step_time, queue_wait, first_token, token_gap, residence, time_per_token;
  double mean_present = 0;                         // requests in the system, by integral over time
  double engine_utilization = 0, engine_wait = 0;  // share; mean s a draft job waits
  StepCost last_step;                              // the parts of the last full step
  double memory_bytes = 0, link_bytes = 0, pool_bytes = 0, flops = 0;
  double verify_seconds = 0;  // time in verification
  Energy energy;
  // Little's law: present / (completed / seconds x mean residence); 1 when every second is accounted for.
  double little() const;
};

Result<ServeResult> serve(const ServeSpec& spec, workload::Source source);

}  // namespace dmprof::simcard
