// Requests on a node, step by step: admission, prefill, drafts on the speculation engines, verification, acceptance.
// Events are steps, draft jobs, arrivals and transfers; a step's time comes from step_cost() and from what lies in the
// tiers. Deterministic by seed; one run belongs to one thread.
//
// The cards' memory holds the weights and the KV cache of the active sequences. Where a step could outgrow it, caches
// that wait in it leave first, then the youngest active sequences are preempted: their cache goes to the first tier
// with room and is read back when there is room again; where no tier has room it is dropped and prefilled again.
// Weights that do not fit: cold_weights.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/workload/arrivals.h"
#include "samples/simcard/node/storage.h"
#include "samples/simcard/serve/drafting.h"
#include "samples/simcard/serve/ledger.h"
#include "samples/simcard/serve/observer.h"
#include "samples/simcard/serve/statistics.h"
#include "samples/simcard/serve/step.h"

namespace dmprof::simcard {

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
  double kv_share = 0.1;                // of the memory, kept for the cache where the weights would fill all of it
  double expert_skew = 0;               // popularity of experts by rank (Zipf), where they do not all fit
  bool wait_for_all_drafts = true;      // false: a step verifies whichever drafts are ready
  std::int64_t requests = 1000;         // issued in all; the run ends when they are done
  std::int64_t warm_up = 0;             // steps that are left out of step times, gaps and throughput
  std::int64_t most_waiting = 100'000;  // more waiting requests are an overload
  std::uint64_t seed = 1;
  ServeObserver* observer = nullptr;  // who is told of the run, which it outlives; nobody
};

struct ServeResult {
  bool overloaded = false;  // the queue never drained; other figures then cover what was done until the verdict
  std::uint64_t issued = 0, completed = 0;
  std::uint64_t refused = 0;                    // longer than the memory that is left for the cache
  std::uint64_t preempted = 0, recomputed = 0;  // sequences taken out of a step; of these, with their cache dropped
  std::uint64_t expert_hits = 0, expert_misses = 0;
  std::uint64_t tokens = 0;        // emitted by completed and running requests
  std::uint64_t tokens_asked = 0;  // of completed requests
  std::uint64_t steps = 0, drafted = 0, accepted = 0;
  double seconds = 0;     // of the whole run
  double throughput = 0;  // tokens/s after warm-up, while requests were still being issued
  Distribution step_time, queue_wait, first_token, token_gap, residence, time_per_token;
  double mean_present = 0;                         // requests in the system, by integral over time
  double engine_utilization = 0, engine_wait = 0;  // share; mean s a draft job waits
  StepCost last_step;                              // the parts of the last full step
  double memory_bytes = 0, link_bytes = 0, flops = 0;
  double verify_seconds = 0;        // time in verification
  double cold_seconds = 0;          // of it, waiting for weights in tiers
  double kv_room = 0, kv_peak = 0;  // bytes of cache that the memory can hold, and held at most
  double kv_left = 0;               // bytes still accounted to it at the end: 0
  double cold_bytes = 0;            // weights that passes read from tiers
  std::vector<TierUse> tiers;
  Energy energy;
  // Little's law: present / (completed / seconds x mean residence); 1 when every second is accounted for.
  double little() const;
};

Result<ServeResult> serve(const ServeSpec& spec, workload::Source source);

}  // namespace dmprof::simcard
