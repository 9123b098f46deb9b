#include "collectors/attach/host_clock.h"

#include <time.h>

#include <algorithm>
#include <cstdio>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace dmprof::attach {
namespace {

TimeNs read_clock(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<TimeNs>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::uint64_t read_tsc() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return 0;
#endif
}

constexpr TimeNs second = 1'000'000'000;

}  // namespace

// Reads the clock between two readings of the counter, several times, and keeps the narrowest bracket: what was
// interrupted is wide.
Reading HostClock::read() const {
  Reading best;
  best.uncertainty = second;
  for (int attempt = 0; attempt < 16; ++attempt) {
    const std::uint64_t before = tsc_ ? read_tsc() : static_cast<std::uint64_t>(read_clock(CLOCK_MONOTONIC));
    const TimeNs monotonic = read_clock(CLOCK_MONOTONIC);
    const std::uint64_t after = tsc_ ? read_tsc() : static_cast<std::uint64_t>(read_clock(CLOCK_MONOTONIC));
    const TimeNs width = std::max<TimeNs>(map_.length(after - before), 1);
    if (width >= best.uncertainty && attempt != 0) continue;
    best = {before + (after - before) / 2, monotonic, 0, width};
  }
  const TimeNs monotonic = read_clock(CLOCK_MONOTONIC);
  best.realtime = read_clock(CLOCK_REALTIME) - (monotonic - best.monotonic);
  return best;
}

HostClock::HostClock(bool tsc) : tsc_(tsc) {
  if (!tsc_) return;
  const Reading first = read();
  timespec rest{0, 1'000'000};
  ::nanosleep(&rest, nullptr);
  const Reading second_reading = read();
  const double rate = static_cast<double>(second_reading.monotonic - first.monotonic) /
                      static_cast<double>(std::max<std::uint64_t>(second_reading.raw - first.raw, 1));
  map_ = decode::ClockMap(first.raw, first.monotonic, rate);
  map_.sync(second_reading.raw, second_reading.monotonic, interval_);
  next_ = second_reading.monotonic + interval_;
}

std::string HostClock::quality() const {
  if (!tsc_) return "CLOCK_MONOTONIC";
  char text[48];
  std::snprintf(text, sizeof text, "invariant TSC %.3f GHz", 1.0 / map_.rate());
  return text;
}

void HostClock::follow() {
  if (!tsc_ || read_clock(CLOCK_MONOTONIC) < next_) return;
  const Reading reading = read();
  // The base of the rate doubles until it is a second long, and the error found goes away over the next interval.
  interval_ = std::min<TimeNs>(interval_ * 2, second);
  map_.sync(reading.raw, reading.monotonic, interval_);
  next_ = reading.monotonic + interval_;
}

ClockSync HostClock::pair(std::uint32_t domain) const {
  const Reading reading = read();
  return {domain, map_.time(reading.raw), reading.monotonic, reading.realtime, reading.uncertainty};
}

TimeNs HostClock::now() const { return read_clock(CLOCK_MONOTONIC); }

}  // namespace dmprof::attach
