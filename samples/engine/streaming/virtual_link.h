// The arithmetic of the imitated link. No clock and no lock: times are handed in, the owner serialises.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "samples/engine/streaming/backing.h"

namespace dmengine {

struct LinkSlot {
  std::int64_t start = 0;  // the link is busy from here
  std::int64_t end = 0;
};

class VirtualLink {
 public:
  explicit VirtualLink(ThrottleSpec spec) : spec_(spec) {}

  // The next transfer: start = max(link free, issue + latency), end = start + bytes / bandwidth, rounded up to 1 ns. A
  // transfer that is reserved late loses nothing as long as the link had work when it was issued.
  LinkSlot reserve(std::int64_t issue, std::uint64_t bytes) {
    const std::int64_t start = std::max(free_, issue + spec_.latency_ns);
    const double duration = std::ceil(static_cast<double>(bytes) / spec_.bytes_per_second * 1e9);
    free_ = start + static_cast<std::int64_t>(std::min(duration, 1e18));
    return {start, free_};
  }
  // The memory behind the link was slower than the link: it stays busy until `end`.
  void extend_to(std::int64_t end) { free_ = std::max(free_, end); }
  bool busy_at(std::int64_t time) const { return free_ > time; }

 private:
  ThrottleSpec spec_;
  std::int64_t free_ = 0;
};

}  // namespace dmengine
