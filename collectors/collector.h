// A source of events on the host side. The caller owns the loop:
//
//   start(sink); while (!done) { auto r = poll(); sleep(r->rest); } stop();
//
// Every function is called by one thread; the sink must outlive the collector's last call. Errors of the sink come back
// unchanged. After an error of poll() the caller still calls stop(), which settles what was recorded.
#pragma once

#include <chrono>
#include <cstdint>

#include "dmprof/base/error.h"
#include "dmprof/event/sink.h"

namespace dmprof {

struct PollResult {
  std::uint64_t events = 0;              // handed to the sink by this call
  bool finished = false;                 // nothing more will come: every target has ended
  std::chrono::microseconds rest{1000};  // how long the source can be left alone; 0: look again at once
};

class Collector {
 public:
  virtual ~Collector() = default;
  virtual Status start(EventSink& sink) = 0;
  virtual Result<PollResult> poll() = 0;
  // Detaches, hands over what is left, and settles the loss accounts. Calling it twice is harmless.
  virtual Status stop() = 0;
};

}  // namespace dmprof
