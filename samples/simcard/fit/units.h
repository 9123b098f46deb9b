// Links as the engine's flags write them. Errors are usage, say what is wrong and show an example.
#pragma once

#include <cstdint>
#include <string_view>

#include "dmprof/base/error.h"

namespace dmprof::twin {

// dm-engine's "throttle:BANDWIDTH[,LATENCY]": at least 1 kB/s, at most 10 s.
struct Throttle {
  double bytes_per_second = 0;
  std::int64_t latency = 0;  // ns
};
Result<Throttle> parse_throttle(std::string_view text);

}  // namespace dmprof::twin
