// The supply side: planning prefetches and the thread that carries them out.
#include <algorithm>
#include <utility>

#include "samples/engine/streaming/core.h"

namespace dmengine {

using dmprof::cachemodel::Admission;
using dmprof::cachemodel::Evicted;
using dmprof::cachemodel::FetchCause;
using dmprof::cachemodel::Predicted;

std::vector<Predicted> BlockStreamer::Core::predict_path() const {
  const Lock lock(mutex_);
  return matrix_->predict(prefetch_distance_, blocks_.size(), options_.least_probability);
}

std::uint32_t BlockStreamer::Core::schedule(const std::vector<Predicted>& path) {
  Outbox out(observer_);
  std::uint32_t issued = 0;
  {
    const Lock lock(mutex_);
    issued = issue_prefetches(path, out);
  }
  out.deliver();
  return issued;
}

void BlockStreamer::Core::plan(Outbox& out) {
  if (prefetch_distance_ == 0 || accesses_to_plan_ > 0) return;
  // What was planned covers the whole distance: a quarter of it may pass before it is worth looking again.
  accesses_to_plan_ = std::max(prefetch_distance_ / 4, 1u);
  const std::int64_t start = clock_.now();
  const auto path = matrix_->predict(prefetch_distance_, blocks_.size(), options_.least_probability);
  const std::int64_t predicted = clock_.now();
  issue_prefetches(path, out);
  out.add_stage(StreamStage::path_prediction, start, predicted);
  out.add_stage(StreamStage::prefetch_scheduling, predicted, clock_.now());
}

std::uint32_t BlockStreamer::Core::issue_prefetches(const std::vector<Predicted>& path, Outbox& out) {
  std::uint32_t issued = 0;
  plan_was_cut_ = false;
  const std::int64_t now = clock_.now();
  for (const Predicted& next : path) {
    // A matrix that was loaded may speak of blocks this pair of models does not have.
    if (next.block >= blocks_.size() || cache_.contains(next.block)) continue;
    if (outstanding_ >= max_outstanding_ || stop_ || !issue_prefetch(next.block, now, out)) {
      plan_was_cut_ = true;
      break;
    }
    ++issued;
  }
  if (issued > 0) wake_.notify_one();
  return issued;
}

bool BlockStreamer::Core::issue_prefetch(BlockId block, std::int64_t now, Outbox& out) {
  const StreamedBlock& what = blocks_[block];
  std::vector<Evicted> evicted;
  if (outstanding_memory_ + what.memory + room_for_demand() > cache_.budget() ||
      cache_.admit(block, what.memory, FetchCause::prefetch, evicted) != Admission::admitted) {
    ++stats_.prefetches_refused;
    return false;
  }
  put_away(evicted, block, now, out);
  cache_.pin(block);
  Slot& slot = slots_[block];
  slot.buffer = pool_.take(what.memory);
  if (!slot.buffer.bytes) {
    ++stats_.prefetches_refused;
    drop(block);
    return false;
  }
  evicted_by_prefetch_.erase(block);
  slot.loading_pin = true;
  slot.issue = now;
  queue_.push_back(block);
  ++outstanding_;
  outstanding_memory_ += what.memory;
  ++stats_.prefetches_issued;
  out.add(StreamPrefetch{block, StreamPrefetchPoint::issued, what.extent.bytes, now, {}});
  return true;
}

void BlockStreamer::Core::complete_prefetch(BlockId block, Outbox& out) {
  Slot& slot = slots_.at(block);
  slot.loading_pin = false;
  cache_.unpin(block);
  --outstanding_;
  outstanding_memory_ -= blocks_[block].memory;
  ++stats_.prefetches_completed;
  out.add(StreamPrefetch{block, StreamPrefetchPoint::completed, blocks_[block].extent.bytes, slot.ready_at, {}});
}

void BlockStreamer::Core::cancel_prefetch(BlockId block, Outbox& out) {
  slots_.at(block).loading_pin = false;
  --outstanding_;
  outstanding_memory_ -= blocks_[block].memory;
  ++stats_.prefetches_cancelled;
  out.add(StreamPrefetch{block, StreamPrefetchPoint::cancelled, blocks_[block].extent.bytes, clock_.now(), {}});
  drop(block);
}

void BlockStreamer::Core::cancel_queued(Outbox& out) {
  for (const BlockId block : queue_) cancel_prefetch(block, out);
  queue_.clear();
}

void BlockStreamer::Core::sleep_unless_stopped(std::int64_t until) {
  constexpr std::int64_t kSlice = 20'000'000;
  for (std::int64_t now = clock_.now(); now < until; now = clock_.now()) {
    {
      const Lock lock(mutex_);
      if (stop_) return;
    }
    clock_.sleep_until(std::min(until, now + kSlice));
  }
}

void BlockStreamer::Core::prefetch_loop() {
  Outbox out(observer_);
  Lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stop_ || (!queue_.empty() && !link_busy_ && demands_waiting_ == 0); });
    if (stop_) return;
    const BlockId block = queue_.front();
    queue_.pop_front();
    transfer(lock, block, Asker::prefetch, out);
    const auto moved = slots_.find(block);
    if (moved != slots_.end() && moved->second.state == SlotState::arrived) {
      const std::int64_t ready_at = moved->second.ready_at;
      lock.unlock();
      out.deliver();
      sleep_unless_stopped(ready_at);
      lock.lock();
      // The consumer that came too early may have completed it already; then it may even be gone again, or on its way
      // anew.
      const auto arrived = slots_.find(block);
      if (arrived != slots_.end() && arrived->second.state == SlotState::arrived && arrived->second.loading_pin &&
          arrived->second.ready_at == ready_at) {
        if (stop_ && ready_at > clock_.now()) {
          cancel_prefetch(block, out);
        } else {
          complete_prefetch(block, out);
        }
      }
    }
    if (plan_was_cut_ && !stop_) {
      accesses_to_plan_ = 0;
      plan(out);
    }
    lock.unlock();
    out.deliver();
    lock.lock();
  }
}

}  // namespace dmengine
