// Time as the streaming mode sees it. Real in the engine, stepped by hand in tests.
#pragma once

#include <cstdint>

namespace dmengine {

class StreamClock {
 public:
  virtual ~StreamClock() = default;
  // Nanoseconds from an arbitrary but fixed start; never goes back. Any thread.
  virtual std::int64_t now() = 0;
  // Returns at `time` or a few microseconds later: sleeps, then spins for the last stretch of at most 40 us. Any
  // thread.
  virtual void wait_until(std::int64_t time) = 0;
  // Returns at `time` or somewhat later (the scheduler decides); never spins. Any thread.
  virtual void sleep_until(std::int64_t time) = 0;
};

// CLOCK_MONOTONIC. Lives as long as the program.
StreamClock& monotonic_clock();

}  // namespace dmengine
