// Virtual time: integer picoseconds. 64 bits reach 106 days, so sums of a run's times do not overflow (kLongestRun).
#pragma once

#include <cmath>
#include <cstdint>

namespace dmprof::simcard {

using SimTime = std::int64_t;  // picoseconds

inline constexpr SimTime kPicosecond = 1;
inline constexpr SimTime kNanosecond = 1000;
inline constexpr SimTime kMicrosecond = 1000 * kNanosecond;
inline constexpr SimTime kMillisecond = 1000 * kMicrosecond;
inline constexpr SimTime kSecond = 1000 * kMillisecond;
inline constexpr SimTime kForever = INT64_MAX;
inline constexpr SimTime kLongestRun = 24 * 3600 * kSecond;  // what callers may ask for

// Events are recorded in nanoseconds. Rounding down both ends of a span keeps neighbours neighbours.
inline std::uint64_t nanoseconds(SimTime time) { return static_cast<std::uint64_t>(time / kNanosecond); }
inline double seconds(SimTime time) { return static_cast<double>(time) * 1e-12; }

// Rounded to the nearest picosecond; negative and absurd figures are clamped to 0 and kLongestRun.
inline SimTime from_seconds(double s) {
  if (!(s > 0)) return 0;
  const double ps = s * 1e12;
  return ps >= static_cast<double>(kLongestRun) ? kLongestRun : static_cast<SimTime>(ps + 0.5);
}

inline SimTime from_nanoseconds(std::int64_t ns) {
  return ns > kLongestRun / kNanosecond ? kLongestRun : ns * kNanosecond;
}

// Time that `amount` takes at `rate` per second (bytes and B/s, FLOPs and FLOP/s). A rate of 0 means "takes no time";
// where that would be wrong the parameters' check refuses it.
inline SimTime time_for(double amount, double rate) { return rate > 0 ? from_seconds(amount / rate) : 0; }

}  // namespace dmprof::simcard
