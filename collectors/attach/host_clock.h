// The host's clock as engines read it, followed while recording: sync pairs of (TSC, CLOCK_MONOTONIC, CLOCK_REALTIME).
#pragma once

#include <cstdint>
#include <string>

#include "dmprof/decode/clock_map.h"
#include "dmprof/event/sink.h"

namespace dmprof::attach {

// One simultaneous reading of the three clocks; `uncertainty` is the width of the bracket it was taken in.
struct Reading {
  std::uint64_t raw = 0;  // TSC, or CLOCK_MONOTONIC where engines use that
  TimeNs monotonic = 0;
  TimeNs realtime = 0;
  TimeNs uncertainty = 0;
};

class HostClock {
 public:
  // `tsc`: the engines' readings are TSC ticks. Takes about a millisecond to find the rate.
  explicit HostClock(bool tsc);

  const decode::ClockMap& map() const { return map_; }
  std::string quality() const;  // "invariant TSC 2.445 GHz", "CLOCK_MONOTONIC"
  // Follows the clock when it is due: often at first, then once a second. Cheap to call at every poll.
  void follow();
  // A pair for the recording. Event times are in the domain's nanoseconds; the difference to `monotonic` is the error
  // of the conversion.
  ClockSync pair(std::uint32_t domain) const;
  TimeNs now() const;

 private:
  Reading read() const;

  bool tsc_;
  decode::ClockMap map_;
  TimeNs next_ = 0;
  TimeNs interval_ = 2'000'000;
};

}  // namespace dmprof::attach
