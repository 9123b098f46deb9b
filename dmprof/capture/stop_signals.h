// Ctrl-C, SIGTERM and SIGHUP as something a loop can ask for, so that a recording ends in order.
#pragma once

#include <signal.h>

#include <optional>

#include "dmprof/base/error.h"

namespace dmprof::capture {

struct StopSignal {
  int number = 0;
  bool from_terminal = false;  // Ctrl-C: the terminal has sent it to the recorded command too
};

// Blocks the signals for this thread and every thread it starts afterwards: make it before the first of them. One at a
// time.
class StopSignals {
 public:
  static Result<StopSignals> take();
  StopSignals(StopSignals&& other) noexcept;
  StopSignals& operator=(StopSignals&&) = delete;
  ~StopSignals();

  // The next signal that arrived, waiting at most `milliseconds`.
  std::optional<StopSignal> wait(int milliseconds);

 private:
  StopSignals(int descriptor, const sigset_t& previous) : descriptor_(descriptor), previous_(previous) {}
  int descriptor_ = -1;
  sigset_t previous_{};
};

}  // namespace dmprof::capture
