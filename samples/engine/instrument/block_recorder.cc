#include "samples/engine/instrument/block_recorder.h"

#include <algorithm>

namespace dmengine {
namespace {

std::uint32_t narrow(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
}

}  // namespace

BlockRecorder::BlockRecorder(Recorder& recorder, const SdkStreamClock& clock)
    : recorder_(recorder),
      clock_(clock),
      path_prediction_name_(dmprof_name("path_prediction")),
      prefetch_scheduling_name_(dmprof_name("prefetch_scheduling")) {}

// The calling thread's own track; the first event of the streamer's thread names it.
dmprof_track* BlockRecorder::track() {
  if (on_engine_thread()) return recorder_.track();
  thread_local bool named = false;
  if (!named) dmprof_thread_name("prefetch");
  named = true;
  return dmprof_thread_track();
}

void BlockRecorder::on_access(const StreamAccess& access) {
  raise(accesses_[static_cast<std::size_t>(access.outcome)]);
  raise(pollution_misses_, access.polluted ? 1 : 0);
  const Ticks wait = clock_.ticks(access.wait);
  if (on_engine_thread()) recorder_.add_stall(wait);
  dmprof_block_access_event event{};
  event.time = clock_.moment(access.time);
  event.block = access.block;
  event.tier = tiers_.resident;
  event.outcome = static_cast<std::uint8_t>(access.outcome);
  event.origin = static_cast<std::uint8_t>(access.origin);
  event.prediction = static_cast<std::uint8_t>(access.prediction);
  event.phase = recorder_.phase();
  event.bytes = narrow(access.memory);
  event.wait = wait;
  event.step = recorder_.step();
  dmprof_block_access(track(), &event);
}

void BlockRecorder::on_prefetch(const StreamPrefetch& prefetch) {
  raise(prefetches_[static_cast<std::size_t>(prefetch.point)]);
  dmprof_prefetch_event event{};
  event.time = clock_.moment(prefetch.time);
  event.block = prefetch.block;
  event.tier = tiers_.resident;
  event.point = static_cast<std::uint8_t>(prefetch.point);
  event.bytes = narrow(prefetch.bytes);
  event.victim = prefetch.victim ? *prefetch.victim + 1 : 0;
  event.step = prefetch.mark;
  dmprof_prefetch(track(), &event);
}

void BlockRecorder::on_transfer(const StreamTransfer& transfer) {
  raise(transfers_);
  raise(transfer_bytes_, transfer.bytes);
  dmprof_transfer_event event{};
  event.start = clock_.moment(transfer.start);
  event.duration = clock_.ticks(transfer.duration);
  event.from = tiers_.backing;
  event.to = tiers_.resident;
  event.bytes = transfer.bytes;
  event.useful_bytes = transfer.useful_bytes;
  event.block = transfer.block;
  event.queue_depth = transfer.queue_depth;
  dmprof_transfer(track(), &event);
}

void BlockRecorder::on_stage(StreamStage stage, std::int64_t start, std::int64_t duration, std::uint64_t step) {
  const bool prediction = stage == StreamStage::path_prediction;
  (prediction ? path_prediction_ : prefetch_scheduling_).fetch_add(duration, std::memory_order_relaxed);
  dmprof_slice_event event{};
  event.start = clock_.moment(start);
  event.duration = clock_.ticks(duration);
  event.name = prediction ? path_prediction_name_ : prefetch_scheduling_name_;
  event.depth = on_engine_thread() ? 1 : 0;  // on the engine's track it lies inside the stage that asked for the block
  event.step = step;
  dmprof_slice(track(), &event);
}

BlockCounts BlockRecorder::counts() const {
  const auto read = [](const Count& count) { return count.load(std::memory_order_relaxed); };
  BlockCounts counts;
  counts.hits = read(accesses_[0]);
  counts.late = read(accesses_[1]);
  counts.misses = read(accesses_[2]);
  counts.pollution_misses = read(pollution_misses_);
  counts.prefetches_issued = read(prefetches_[0]);
  counts.prefetches_completed = read(prefetches_[1]);
  counts.prefetches_evicted_unused = read(prefetches_[2]);
  counts.prefetches_cancelled = read(prefetches_[3]);
  counts.prefetches_displaced = read(prefetches_[4]);
  counts.transfers = read(transfers_);
  counts.transfer_bytes = read(transfer_bytes_);
  return counts;
}

}  // namespace dmengine
