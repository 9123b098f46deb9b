// Turns raw clock readings of an engine into nanoseconds: the identity for clocks that count nanoseconds, and for the
// TSC a line that is bent at every sync pair so that it is continuous and never runs backwards while it follows
// CLOCK_MONOTONIC. Writers and readers must be one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "dmprof/event/event.h"

namespace dmprof::decode {

class ClockMap {
 public:
  // Readings are nanoseconds already.
  ClockMap() = default;

  // A counter of about `rate` nanoseconds a tick, which read `raw` at `ns`.
  ClockMap(std::uint64_t raw, TimeNs ns, double rate);

  // A later simultaneous reading. The error found is removed over the next `horizon` nanoseconds.
  void sync(std::uint64_t raw, TimeNs ns, TimeNs horizon);

  TimeNs time(std::uint64_t raw) const;
  TimeNs length(std::uint64_t raw) const;  // of a difference of two readings
  // Nanoseconds a tick, now; 1 for the identity.
  double rate() const { return segments_.empty() ? 1.0 : segments_.back().rate; }

 private:
  struct Segment {
    std::uint64_t raw;
    TimeNs ns;
    double rate;
  };
  struct Pair {
    std::uint64_t raw;
    TimeNs ns;
  };
  std::vector<Segment> segments_;  // by raw; empty: the identity
  std::vector<Pair> pairs_;        // recent syncs, the base of the rate
};

}  // namespace dmprof::decode
