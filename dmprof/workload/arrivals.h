// When requests arrive: open loop (Poisson, bursty, bursts by the clock, a trace) or closed loop (a fixed number of
// users).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/workload/lengths.h"
#include "dmprof/workload/random.h"
#include "dmprof/workload/request.h"

namespace dmprof::workload {

struct Arrivals {
  enum class Kind {
    poisson,      // `rate` a second
    bursty,       // Poisson whose rate switches between a burst and a calm state; the mean over time is `rate`
    bursts,       // `burst` requests at once every `period_s`, and one alone half a period later: no chance in it
    closed_loop,  // `users`, each sends its next request `think_s` (exponential) after its last one completed
    trace,        // given requests
  };
  Kind kind = Kind::poisson;
  double rate = 1;           // requests per second
  double burst_factor = 4;   // rate within a burst over the mean rate; >= 1
  double burst_share = 0.1;  // share of time in bursts; burst_factor * burst_share <= 1
  double burst_s = 1;        // mean length of a burst
  std::int64_t burst = 1;    // requests at once
  double period_s = 1;
  std::int64_t users = 1;
  double think_s = 0;

  Status check() const;
};

// Produces the requests of a workload one after the other. Deterministic by seed; arrivals and lengths draw from their
// own streams, so that changing one does not change the other. Not thread-safe.
class Source {
 public:
  Source(Arrivals arrivals, Lengths prompts, Lengths outputs, std::uint64_t seed);
  // A trace, in order of arrival; `speed` > 1 compresses time.
  Source(std::vector<Request> trace, double speed = 1);

  // The next request that does not wait for a completion: open-loop arrivals without end, a trace to its end, the first
  // request of each user of a closed loop.
  std::optional<Request> next();
  // Closed loop: the request a user sends after one completed at `now_ns`; otherwise nothing.
  std::optional<Request> after_completion(std::int64_t now_ns);

 private:
  Request drawn(std::int64_t arrival_ns);
  double next_gap_s();
  std::int64_t next_burst_ns() const;

  Arrivals arrivals_;
  Lengths prompts_;
  Lengths outputs_;
  Random gaps_;
  Random lengths_;
  std::vector<Request> trace_;
  double speed_ = 1;
  std::size_t issued_ = 0;
  double clock_s_ = 0;
  bool in_burst_ = false;
  double state_left_s_ = 0;
};

}  // namespace dmprof::workload
