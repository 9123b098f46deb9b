#include "samples/simcard/memory/store.h"

#include <algorithm>

namespace dmprof::simcard {

Store::Store(Simulation& simulation, const MemoryParameters& parameters, std::uint64_t block_bytes,
             cachemodel::PolicyKind policy, Channels& channels, StoreListener* listener)
    : simulation_(simulation),
      parameters_(parameters),
      block_bytes_(block_bytes),
      channels_(channels),
      listener_(listener),
      cache_(parameters.l1_bytes, cachemodel::make_policy(policy)),
      demand_slots_(parameters.demand_outstanding, 0) {}

void Store::expect(BlockId block, std::uint64_t order, std::uint64_t accesses_ahead) {
  cache_.foresee(block, accesses_ahead);
  if (cache_.contains(block) || in_flight_.contains(block)) return;
  const auto [place, added] = queued_.emplace(block, order);
  if (!added) {
    if (place->second <= order) return;
    queue_.erase({place->second, block});
    place->second = order;
  } else if (queued_.size() > parameters_.prefetch_queue) {
    queued_.erase(place);
    ++statistics_.dropped;
    return;
  }
  queue_.insert({order, block});
  pump();
}

void Store::cancel_before(std::uint64_t order) {
  while (!queue_.empty() && queue_.begin()->first < order) {
    queued_.erase(queue_.begin()->second);
    queue_.erase(queue_.begin());
  }
  blocked_ = false;
}

void Store::note_evictions() {
  for (const cachemodel::Evicted& each : evicted_) {
    if (!each.unused_prefetch) continue;
    ++statistics_.evicted_unused;
    if (listener_ != nullptr) listener_->on_prefetch(PrefetchPoint::evicted_unused, each.block, nullptr);
  }
}

bool Store::start_prefetch(BlockId block) {
  evicted_.clear();
  if (cache_.admit(block, block_bytes_, FetchCause::prefetch, evicted_) != cachemodel::Admission::admitted)
    return false;
  note_evictions();
  cache_.pin(block);
  ++prefetching_;
  Flight flight;
  flight.start = simulation_.now();
  flight.ready = channels_.read(flight.start, block, block_bytes_);
  flight.cause = FetchCause::prefetch;
  flight.under_way = prefetching_ + demanding_;
  flight.victim = evicted_.empty() ? 0 : evicted_.front().block + 1;
  in_flight_.emplace(block, flight);
  simulation_.at(flight.ready, *this, 0, block);
  ++statistics_.prefetches;
  statistics_.prefetch_bytes += block_bytes_;
  if (listener_ != nullptr) listener_->on_prefetch(PrefetchPoint::issued, block, nullptr);
  return true;
}

void Store::pump() {
  while (!blocked_ && !queue_.empty() && demanding_ == 0 && prefetching_ < parameters_.prefetch_outstanding) {
    const BlockId block = queue_.begin()->second;
    if (!cache_.contains(block) && !in_flight_.contains(block) && !start_prefetch(block)) {
      blocked_ = true;
      return;
    }
    queue_.erase(queue_.begin());
    queued_.erase(block);
  }
}

// A fetch waits for one of the bounded slots, then for its channels.
SimTime Store::demand(BlockId block) {
  const auto slot = std::min_element(demand_slots_.begin(), demand_slots_.end());
  Flight flight;
  flight.start = std::max(simulation_.now(), *slot);
  flight.ready = *slot = channels_.read(flight.start, block, block_bytes_);
  flight.cause = FetchCause::demand;
  evicted_.clear();
  flight.cached = cache_.admit(block, block_bytes_, FetchCause::demand, evicted_) == cachemodel::Admission::admitted;
  note_evictions();
  if (flight.cached) cache_.pin(block);
  flight.under_way = prefetching_ + ++demanding_;
  in_flight_.emplace(block, flight);
  simulation_.at(flight.ready, *this, 0, block);
  statistics_.demand_bytes += block_bytes_;
  return flight.ready;
}

Asked Store::ask(BlockId block) {
  blocked_ = false;
  const cachemodel::Access access = cache_.access(block);
  if (access.first_use_of_prefetch) ++statistics_.prefetches_used;
  Asked asked{Found::hit, access.first_use_of_prefetch ? Origin::prefetched : Origin::resident, simulation_.now(),
              true};
  if (const auto flight = in_flight_.find(block); flight != in_flight_.end()) {
    const bool prefetch = flight->second.cause == FetchCause::prefetch;
    asked = {prefetch ? Found::late : Found::miss, prefetch ? Origin::prefetched : Origin::demand, flight->second.ready,
             true};
  } else if (!access.resident) {
    if (const auto waiting = queued_.find(block); waiting != queued_.end()) {
      queue_.erase({waiting->second, block});
      queued_.erase(waiting);
    }
    asked = {Found::miss, Origin::demand, demand(block), true};
  }
  asked.held = cache_.contains(block);
  cache_.pin(block);
  ++(asked.outcome == Found::hit    ? statistics_.hits
     : asked.outcome == Found::late ? statistics_.late
                                    : statistics_.misses);
  return asked;
}

void Store::release(BlockId block) {
  cache_.unpin(block);
  blocked_ = false;
  pump();
}

void Store::on_event(std::uint32_t, std::uint64_t block) {
  const auto found = in_flight_.find(block);
  const Flight flight = found->second;
  in_flight_.erase(found);
  if (flight.cached) cache_.unpin(block);
  --(flight.cause == FetchCause::prefetch ? prefetching_ : demanding_);
  if (listener_ != nullptr) {
    listener_->on_block_transfer(block, flight.cause, flight.start, flight.ready, flight.under_way);
    if (flight.cause == FetchCause::prefetch) {
      const BlockId victim = flight.victim - 1;
      listener_->on_prefetch(PrefetchPoint::completed, block, flight.victim == 0 ? nullptr : &victim);
    }
  }
  pump();
}

}  // namespace dmprof::simcard
