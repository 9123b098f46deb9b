// The demand side: what happens between a request for a block and its bytes.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "samples/engine/streaming/core.h"

namespace dmengine {

using dmprof::ErrorKind;
using dmprof::fail;
using dmprof::Result;
using dmprof::Status;
using dmprof::cachemodel::Access;
using dmprof::cachemodel::Admission;
using dmprof::cachemodel::Evicted;
using dmprof::cachemodel::FetchCause;

Result<std::span<const std::byte>> BlockStreamer::Core::acquire(BlockId block) {
  Outbox out(observer_);
  Lock lock(mutex_);
  StreamAccess access;
  access.block = block;
  access.bytes = blocks_[block].extent.bytes;
  access.memory = blocks_[block].memory;
  access.time = clock_.now();
  access.prediction = learn(block);
  const Access seen = cache_.access(block);
  if (accesses_to_plan_ > 0) --accesses_to_plan_;

  Status status;
  if (seen.resident) {
    cache_.pin(block);
    const Slot& slot = slots_.at(block);
    access.origin = seen.first_use_of_prefetch ? StreamOrigin::prefetched : StreamOrigin::resident;
    if (slot.state != SlotState::arrived || slot.ready_at > access.time) {
      // Not a prefetch: another thread's demand for the same block is under way.
      access.outcome = slot.loading_pin ? StreamOutcome::late : StreamOutcome::miss;
      if (!slot.loading_pin) access.origin = StreamOrigin::demand;
      status = await(lock, block, out);
    }
  } else {
    access.outcome = StreamOutcome::miss;
    access.origin = StreamOrigin::demand;
    status = fetch(lock, access, out);
  }
  if (access.outcome == StreamOutcome::hit) {
    plan(out);
  } else {
    access.wait = std::max<std::int64_t>(clock_.now() - access.time, 0);
  }

  stats_.hits += access.outcome == StreamOutcome::hit;
  stats_.late += access.outcome == StreamOutcome::late;
  stats_.misses += access.outcome == StreamOutcome::miss;
  stats_.first_uses_of_prefetched += access.origin == StreamOrigin::prefetched;
  stats_.predicted_right += access.prediction == StreamPrediction::right;
  stats_.predicted_wrong += access.prediction == StreamPrediction::wrong;
  stats_.predicted_none += access.prediction == StreamPrediction::none;
  stats_.pollution_misses += access.polluted;
  stats_.wait_ns += access.wait;
  out.add(access);
  std::span<const std::byte> bytes;
  if (status) {
    const Slot& slot = slots_.at(block);
    bytes = {slot.buffer.bytes.get() + slot.offset, access.bytes};
  }
  lock.unlock();
  out.deliver();
  if (!status) return tl::unexpected(status.error());
  return bytes;
}

void BlockStreamer::Core::release(BlockId block) {
  const Lock lock(mutex_);
  cache_.unpin(block);
}

StreamPrediction BlockStreamer::Core::learn(BlockId block) {
  const auto expected = matrix_->most_likely_next();
  matrix_->observe(block);
  if (!expected) return StreamPrediction::none;
  if (*expected != block) accesses_to_plan_ = 0;
  return *expected == block ? StreamPrediction::right : StreamPrediction::wrong;
}

// A miss. The block is pinned for the caller where this succeeds.
Status BlockStreamer::Core::fetch(Lock& lock, StreamAccess& access, Outbox& out) {
  const BlockId block = access.block;
  access.polluted = evicted_by_prefetch_.erase(block) > 0;
  const std::uint64_t memory = blocks_[block].memory;
  std::vector<Evicted> evicted;
  if (cache_.admit(block, memory, FetchCause::demand, evicted) != Admission::admitted) {
    return fail(ErrorKind::usage, fmt::format("no room for a block of {} bytes in the resident budget of {}: more than "
                                              "{} blocks are held; raise --resident",
                                              memory, cache_.budget(), max_held_));
  }
  put_away(evicted, std::nullopt, access.time, out);
  cache_.pin(block);
  Slot& slot = slots_[block];
  slot.buffer = pool_.take(memory);
  slot.issue = access.time;
  if (!slot.buffer.bytes) {
    drop(block);
    return fail(ErrorKind::environment, fmt::format("no memory for a block of {} bytes; lower --resident", memory));
  }
  return await(lock, block, out);
}

// Waits for a block that the caller has pinned, moving it itself where nobody has begun to.
Status BlockStreamer::Core::await(Lock& lock, BlockId block, Outbox& out) {
  Slot& slot = slots_.at(block);
  if (slot.state == SlotState::queued) {
    const auto queued = std::find(queue_.begin(), queue_.end(), block);
    if (queued != queue_.end()) queue_.erase(queued);
    transfer(lock, block, Asker::demand, out);
  }
  // Requests behind this one are issued now, so that their latency passes while this one is waited for.
  accesses_to_plan_ = 0;
  plan(out);
  wait_until_arrived(lock, block);
  if (slot.state == SlotState::failed && slot.moved_by == Asker::prefetch) {
    // What a prefetch ran into earlier may be mended by now: the demand sees for itself before it gives up.
    slot.state = SlotState::queued;
    slot.issue = clock_.now();
    transfer(lock, block, Asker::demand, out);
    wait_until_arrived(lock, block);
  }
  if (slot.state == SlotState::failed) {
    const std::string message = slot.error;
    drop(block);
    return fail(ErrorKind::environment, message);
  }
  if (slot.loading_pin) complete_prefetch(block, out);
  return {};
}

// Moves a queued block's bytes: arrived (perhaps later than now) or failed afterwards.
void BlockStreamer::Core::transfer(Lock& lock, BlockId block, Asker asker, Outbox& out) {
  Slot& slot = slots_.at(block);
  slot.state = SlotState::moving;
  slot.moved_by = asker;
  demands_waiting_ += asker == Asker::demand;
  changed_.wait(lock, [&] { return !link_busy_; });
  demands_waiting_ -= asker == Asker::demand;
  link_busy_ = true;

  const StreamedBlock& what = blocks_[block];
  const std::int64_t begin = clock_.now();
  StreamTransfer notice;
  notice.block = block;
  notice.useful_bytes = what.extent.bytes;
  notice.prefetch = asker == Asker::prefetch;
  notice.queue_depth =
      static_cast<std::uint32_t>(queue_.size()) + demands_waiting_ + 1 + (link_ && link_->busy_at(begin));
  const LinkSlot span = link_ ? link_->reserve(slot.issue, what.extent.bytes) : LinkSlot{begin, begin};
  std::byte* const buffer = slot.buffer.bytes.get();
  lock.unlock();
  const Result<ReadResult> read = stores_[what.model]->read(what.extent, buffer);
  const std::int64_t end = std::max(span.end, clock_.now());
  lock.lock();

  link_busy_ = false;
  if (link_) link_->extend_to(end);
  if (read) {
    slot.state = SlotState::arrived;
    slot.offset = read->offset;
    slot.ready_at = end;
    notice.start = span.start;
    notice.duration = end - span.start;
    notice.bytes = read->moved;
    ++stats_.transfers;
    stats_.transfer_bytes += notice.bytes;
    stats_.transfer_ns += notice.duration;
    out.add(notice);
  } else {
    slot.state = SlotState::failed;
    slot.error = read.error().message;
    if (slot.loading_pin) cancel_prefetch(block, out);
  }
  changed_.notify_all();
  wake_.notify_one();
}

void BlockStreamer::Core::wait_until_arrived(Lock& lock, BlockId block) {
  Slot& slot = slots_.at(block);
  changed_.wait(lock, [&] { return slot.state == SlotState::arrived || slot.state == SlotState::failed; });
  if (slot.state == SlotState::failed) return;
  const std::int64_t ready_at = slot.ready_at;
  lock.unlock();
  clock_.wait_until(ready_at);
  lock.lock();
}

// Gives up one pin of a block that will not be used; the last one takes the block out.
void BlockStreamer::Core::drop(BlockId block) {
  cache_.unpin(block);
  if (!cache_.remove(block)) return;
  const auto slot = slots_.find(block);
  pool_.give_back(std::move(slot->second.buffer));
  slots_.erase(slot);
}

void BlockStreamer::Core::put_away(const std::vector<Evicted>& evicted, std::optional<BlockId> prefetched,
                                   std::int64_t now, Outbox& out) {
  for (const Evicted& each : evicted) {
    const auto slot = slots_.find(each.block);
    pool_.give_back(std::move(slot->second.buffer));
    slots_.erase(slot);
    if (prefetched) {
      evicted_by_prefetch_.insert(each.block);
      ++stats_.prefetches_displaced;
      out.add(StreamPrefetch{*prefetched, StreamPrefetchPoint::displaced, blocks_[each.block].extent.bytes, now,
                             each.block});
    }
    if (!each.unused_prefetch) continue;
    ++stats_.prefetches_evicted_unused;
    out.add(StreamPrefetch{each.block, StreamPrefetchPoint::evicted_unused, blocks_[each.block].extent.bytes, now, {}});
  }
}

}  // namespace dmengine
