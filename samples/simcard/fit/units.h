// Sizes, bandwidths and times as people write them. Each accepts a number with its unit; errors name the text and show
// an example (usage).
#pragma once

#include <cstdint>
#include <string_view>

#include "dmprof/base/error.h"

namespace dmprof::twin {

Result<double> parse_number(std::string_view text);              // finite, not negative
Result<std::uint64_t> parse_bytes(std::string_view text);        // "4MiB", "2097152"
Result<double> parse_bandwidth(std::string_view text);           // B/s: "1GB/s", "256MiB/s"
Result<std::int64_t> parse_time(std::string_view text);          // ns: "300us"

// dm-engine's "throttle:BANDWIDTH[,LATENCY]".
struct Throttle {
  double bytes_per_second = 0;
  std::int64_t latency = 0;
};
Result<Throttle> parse_throttle(std::string_view text);

}  // namespace dmprof::twin
