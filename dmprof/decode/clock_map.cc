#include "dmprof/decode/clock_map.h"

#include <algorithm>
#include <limits>

namespace dmprof::decode {
namespace {

constexpr double limit = 4.0e18;  // under half the range of TimeNs: an anchor plus this stays inside
constexpr std::size_t kept_segments = 64;
constexpr std::size_t kept_pairs = 8;

double signed_difference(std::uint64_t a, std::uint64_t b) {
  return a >= b ? static_cast<double>(a - b) : -static_cast<double>(b - a);
}

TimeNs bounded(double ns) { return static_cast<TimeNs>(std::clamp(ns, -limit, limit)); }

TimeNs bounded(std::uint64_t ns) {
  return static_cast<TimeNs>(
      std::min<std::uint64_t>(ns, static_cast<std::uint64_t>(std::numeric_limits<TimeNs>::max() / 2)));
}

}  // namespace

ClockMap::ClockMap(std::uint64_t raw, TimeNs ns, double rate) : segments_{{raw, ns, rate}}, pairs_{{raw, ns}} {}

void ClockMap::sync(std::uint64_t raw, TimeNs ns, TimeNs horizon) {
  if (segments_.empty() || raw <= segments_.back().raw || raw <= pairs_.back().raw) return;
  const TimeNs here = time(raw);
  const Pair& base = pairs_.front();
  const double measured = static_cast<double>(ns - base.ns) / signed_difference(raw, base.raw);
  if (!(measured > 0)) return;
  const double correction = static_cast<double>(ns - here) / static_cast<double>(std::max<TimeNs>(horizon, 1));
  // At most a tenth faster or slower: a wild reading must not turn time around.
  segments_.push_back({raw, here, measured * (1.0 + std::clamp(correction, -0.1, 0.1))});
  pairs_.push_back({raw, ns});
  if (segments_.size() > kept_segments) segments_.erase(segments_.begin());
  if (pairs_.size() > kept_pairs) pairs_.erase(pairs_.begin());
}

TimeNs ClockMap::time(std::uint64_t raw) const {
  if (segments_.empty()) return bounded(raw);
  auto segment = segments_.end() - 1;
  while (raw < segment->raw && segment != segments_.begin()) --segment;
  // The anchor is added as an integer: a double holds nanoseconds of uptime only to about 1 ns.
  return segment->ns + bounded(signed_difference(raw, segment->raw) * segment->rate);
}

TimeNs ClockMap::length(std::uint64_t raw) const {
  if (segments_.empty()) return bounded(raw);
  return bounded(static_cast<double>(raw) * segments_.back().rate);
}

}  // namespace dmprof::decode
