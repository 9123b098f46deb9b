// Block accesses, prefetches, transfers and the two stages that belong to the streaming mode, as SDK events on the
// track of the thread they happen on: the engine's for accesses and demand transfers, "prefetch" for the rest.
#pragma once

#include <atomic>
#include <thread>

#include "samples/engine/instrument/recorder.h"
#include "samples/engine/instrument/stream_clock.h"
#include "samples/engine/streaming/observer.h"

namespace dmengine {

// The tiers of streamed weights, ids from dmprof_capacity.
struct StreamTiers {
  std::uint32_t resident = 0;
  std::uint32_t backing = 0;
};

// Thread-safe. Recorder and clock must outlive it.
class BlockRecorder : public StreamObserver {
 public:
  // Made on the engine thread.
  BlockRecorder(Recorder& recorder, const SdkStreamClock& clock);

  // Before the streamer starts.
  void set_tiers(const StreamTiers& tiers) { tiers_ = tiers; }

  void on_access(const StreamAccess& access) override;
  void on_prefetch(const StreamPrefetch& prefetch) override;
  void on_transfer(const StreamTransfer& transfer) override;
  void on_stage(StreamStage stage, std::int64_t start, std::int64_t duration, std::uint64_t step) override;
  // The step that is going on.
  std::uint64_t mark() const override { return recorder_.step(); }

  // Exact once the streamer is gone.
  BlockCounts counts() const;
  std::int64_t path_prediction_time() const { return path_prediction_.load(std::memory_order_relaxed); }
  std::int64_t prefetch_scheduling_time() const { return prefetch_scheduling_.load(std::memory_order_relaxed); }

 private:
  using Count = std::atomic<std::uint64_t>;
  static void raise(Count& count, std::uint64_t by = 1) { count.fetch_add(by, std::memory_order_relaxed); }
  dmprof_track* track();
  bool on_engine_thread() const { return std::this_thread::get_id() == engine_; }

  Recorder& recorder_;
  const SdkStreamClock& clock_;
  const std::thread::id engine_ = std::this_thread::get_id();
  StreamTiers tiers_;
  std::uint32_t path_prediction_name_, prefetch_scheduling_name_;

  Count accesses_[3]{};  // by StreamOutcome
  Count pollution_misses_{0};
  Count prefetches_[5]{};  // by StreamPrefetchPoint
  Count transfers_{0}, transfer_bytes_{0};
  std::atomic<std::int64_t> path_prediction_{0}, prefetch_scheduling_{0};
};

}  // namespace dmengine
