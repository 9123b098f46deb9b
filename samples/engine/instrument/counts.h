// What happened in a run. Each figure is raised exactly where its event is handed to the SDK, whether or not somebody
// records, so that a complete recording must show the same numbers.
#pragma once

#include <cstdint>

namespace dmengine {

struct RequestCounts {
  std::uint64_t arrived = 0;
  std::uint64_t scheduled = 0;
  std::uint64_t first_tokens = 0;
  std::uint64_t ended = 0;
  std::uint64_t failed = 0;
};

struct StepCounts {
  std::uint64_t steps = 0;          // passes of the target
  std::uint64_t prefill_steps = 0;  // of these, with a piece of a prompt in them
  std::uint64_t target_tokens = 0;
};

struct SpeculationCounts {
  std::uint64_t sequence_steps = 0;  // one a request and step
  std::uint64_t drafting_steps = 0;  // of these, with at least one draft token
  std::uint64_t baseline_steps = 0;  // of these, run without speculation on purpose
  std::uint64_t drafted = 0;
  std::uint64_t verified = 0;
  std::uint64_t accepted = 0;
  std::uint64_t emitted = 0;
};

struct BlockCounts {
  std::uint64_t hits = 0;
  std::uint64_t late = 0;
  std::uint64_t misses = 0;
  std::uint64_t pollution_misses = 0;  // of `misses`, on a block that a prefetch had thrown out
  std::uint64_t prefetches_issued = 0;
  std::uint64_t prefetches_completed = 0;
  std::uint64_t prefetches_evicted_unused = 0;
  std::uint64_t prefetches_cancelled = 0;
  std::uint64_t prefetches_displaced = 0;  // blocks thrown out for a prefetch
  std::uint64_t transfers = 0;
  std::uint64_t transfer_bytes = 0;
};

struct Counts {
  RequestCounts requests;
  StepCounts steps;
  SpeculationCounts speculation;
  BlockCounts blocks;
  std::uint64_t kernels = 0;
};

}  // namespace dmengine
