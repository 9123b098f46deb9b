// What a node tells whoever records it. Times are virtual picoseconds; requests and steps are numbered from 1.
#pragma once

#include <cstdint>
#include <span>

#include "samples/simcard/node/storage.h"
#include "samples/simcard/serve/step.h"

namespace dmprof::simcard {

enum class ServeMoment : std::uint8_t { arrive, schedule, first_token, preempt, end };

// A step from the first of its drafts to its tokens. The prompts that its newcomers owe are computed within it; they
// are told as its last part, `prefill`, though the cards may do them first.
struct ServeStep {
  std::uint64_t step = 0;
  SimTime start = 0;   // the first draft began, or the step before ended
  SimTime verify = 0;  // the pass began
  SimTime pass = 0;    // and ended, tiers waited for
  SimTime end = 0;     // the tokens are there: what follows the pass is the host's time and `prefill`
  SimTime prefill = 0;
  std::uint64_t prompt_tokens = 0;  // of `prefill`
  StepCost cost;
  double tokens = 0;    // of a sequence in the pass
  double kv_bytes = 0;  // of cost.memory_bytes
  std::uint64_t waiting = 0;
};

struct ServeSpeculation {  // one sequence's part in a step
  std::uint64_t request = 0;
  std::uint64_t position = 0;
  std::uint32_t drafted = 0, accepted = 0, emitted = 0;
};

class ServeObserver : public TierListener {
 public:
  // `tokens`: of the prompt at its arrival; to compute again at a preemption that drops the cache; emitted at the end.
  virtual void on_request(ServeMoment moment, std::uint64_t request, SimTime time, std::uint64_t tokens) = 0;
  virtual void on_draft(std::uint32_t engine, SimTime start, SimTime end, std::uint64_t request) = 0;
  // A prompt on a node that only prefills, and its cache's way to the node that decodes.
  virtual void on_prefill(std::uint32_t node, SimTime start, SimTime end, std::uint64_t request) = 0;
  virtual void on_cache_sent(SimTime start, SimTime end, double bytes) = 0;
  virtual void on_step(const ServeStep& step, std::span<const ServeSpeculation> sequences) = 0;
  virtual void on_queue(SimTime time, std::uint64_t active, std::uint64_t waiting) = 0;
  virtual void on_gauges(SimTime time, double kv_used, double kv_room, double joules) = 0;
};

}  // namespace dmprof::simcard
