#include "samples/simcard/cli/progress.h"

#include <unistd.h>

#include <cstdio>

#include <fmt/format.h>

namespace dmprof::simcard {

Progress::Progress(SimTime whole) : whole_(whole), wanted_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

void Progress::show(SimTime now) {
  if (!wanted_ || now <= 0) return;
  const Clock::time_point time = Clock::now();
  if (time - last_ < std::chrono::milliseconds(500)) return;
  last_ = time;
  shown_ = true;
  const double done = seconds(now) / seconds(whole_);
  const double spent = std::chrono::duration<double>(time - begun_).count();
  fmt::print(stderr, "\r\033[K  {:.4g} of {:.4g} s of virtual time ({:.0f} %), about {:.0f} s left", seconds(now),
             seconds(whole_), 100 * done, spent * (1 - done) / done);
  std::fflush(stderr);
}

}  // namespace dmprof::simcard
