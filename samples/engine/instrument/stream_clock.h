// The streaming mode's clock on the SDK's time base, so that its block events line up with everything else in a
// recording.
#pragma once

#include "samples/engine/instrument/recorder.h"
#include "samples/engine/streaming/clock.h"

namespace dmengine {

// Nanoseconds since its making, read from the SDK's clock. Any thread.
class SdkStreamClock : public StreamClock {
 public:
  explicit SdkStreamClock(const Recorder& recorder) : recorder_(recorder), origin_(recorder.now()) {}

  std::int64_t now() override { return recorder_.nanoseconds(recorder_.now() - origin_); }
  // The two bases run at the same rate to about 1e-5, so a stretch of one is waited for on the other.
  void wait_until(std::int64_t time) override { real_.wait_until(real_.now() + (time - now())); }
  void sleep_until(std::int64_t time) override { real_.sleep_until(real_.now() + (time - now())); }

  Ticks ticks(std::int64_t duration) const { return recorder_.ticks(duration); }
  Ticks moment(std::int64_t time) const { return origin_ + ticks(time); }

 private:
  const Recorder& recorder_;
  Ticks origin_;
  StreamClock& real_ = monotonic_clock();
};

}  // namespace dmengine
