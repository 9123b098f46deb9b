// How far a long run is, on a terminal; nothing elsewhere, so that logs stay clean.
#pragma once

#include <chrono>

#include "samples/simcard/core/time.h"

namespace dmprof::simcard {

class Progress {
 public:
  explicit Progress(SimTime whole);
  ~Progress();  // leaves an empty line behind
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // Rewrites the line twice a second at most.
  void show(SimTime now);

 private:
  using Clock = std::chrono::steady_clock;
  SimTime whole_;
  bool wanted_;
  bool shown_ = false;
  Clock::time_point begun_ = Clock::now(), last_ = begun_;
};

}  // namespace dmprof::simcard
