// What a card counts.
#pragma once

#include <cstdint>

namespace dmprof::simcard {

struct CardStatistics {
  std::uint64_t arrived = 0, completed = 0, refused = 0;
  std::uint64_t steps = 0, prefill_steps = 0, accesses = 0;
  std::uint64_t drafted = 0, accepted = 0;
  std::uint64_t emitted = 0, decoded = 0;  // tokens in all; of these by decode steps
  std::uint64_t flops = 0, l1_bytes = 0;   // of passes that have ended
  std::uint64_t decode_l2_bytes = 0;       // that L2 moved while decode steps ran that have ended
  std::uint64_t block_bytes = 0;           // read by the modules as blocks, from whichever tier
  double decode_time = 0, draft_time = 0, verify_time = 0, stall_time = 0;  // seconds
  double load_time = 0;             // seconds from asking for a block to having it, summed over blocks
  double present = 0, sojourn = 0;  // request-seconds; seconds over completed requests (Little's law)
  double unfinished = 0;            // seconds so far over the requests that are still there
  double longest = 0;               // seconds, the longest request
};

}  // namespace dmprof::simcard
