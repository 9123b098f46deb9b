#include "samples/simcard/memory/store.h"

#include <algorithm>
#include <functional>

namespace dmprof::simcard {
namespace {

constexpr double kMostForFills = 0.9;

}  // namespace

Store::Store(Simulation& simulation, const MemoryParameters& parameters, std::uint64_t block_bytes,
             cachemodel::PolicyKind policy, Channels& channels, StoreListener* listener)
    : simulation_(simulation),
      parameters_(parameters),
      block_bytes_(block_bytes),
      channels_(channels),
      listener_(listener),
      cache_(parameters.l1_bytes, cachemodel::make_policy(policy)),
      demand_slots_(parameters.demand_outstanding, 0) {}

void Store::expect(BlockId block, std::uint64_t order, std::uint64_t accesses_ahead, std::uint64_t bytes) {
  cache_.foresee(block, accesses_ahead);
  if (cache_.contains(block) || in_flight_.contains(block)) return;
  const auto [queued, added] = queued_.insert(block);
  if (!added && queued->order <= order) return;
  if (added && queued_.size() > parameters_.prefetch_queue) {
    queued_.erase(block);
    ++statistics_.dropped;
    return;
  }
  *queued = {order, bytes > 0 ? bytes : block_bytes_};
  queue_.emplace_back(order, block);
  std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
  pump();
}

// The first of the queue that still counts.
const Store::Request* Store::first_request() {
  while (!queue_.empty()) {
    const Queued* const queued = queued_.find(queue_.front().second);
    if (queued != nullptr && queued->order == queue_.front().first) return &queue_.front();
    std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
    queue_.pop_back();
  }
  return nullptr;
}

void Store::cancel_before(std::uint64_t order) {
  for (const Request* first = first_request(); first != nullptr && first->first < order; first = first_request())
    queued_.erase(first->second);
  blocked_ = false;
}

void Store::note_evictions(const BlockId* prefetched) {
  for (const cachemodel::Evicted& each : evicted_) {
    if (each.unused_prefetch) ++statistics_.evicted_unused;
    if (prefetched != nullptr) ++statistics_.displaced;
    if (listener_ == nullptr) continue;
    if (prefetched != nullptr) listener_->on_prefetch({PrefetchPoint::displaced, *prefetched, each.bytes, each.block});
    if (!each.unused_prefetch) continue;
    listener_->on_prefetch({PrefetchPoint::evicted_unused, each.block, each.bytes});
    tell_transfer(each.block, *unused_.find(each.block), false);
    unused_.erase(each.block);
  }
}

void Store::tell_transfer(BlockId block, const Flight& flight, bool useful) {
  listener_->on_block_transfer(
      {block, flight.start, flight.ready, flight.bytes, useful ? flight.bytes : 0, flight.under_way});
}

bool Store::start_prefetch(BlockId block, std::uint64_t bytes) {
  evicted_.clear();
  if (cache_.admit(block, bytes, FetchCause::prefetch, evicted_) != cachemodel::Admission::admitted) return false;
  if (listener_ != nullptr) listener_->on_prefetch({PrefetchPoint::issued, block, bytes});
  note_evictions(&block);
  cache_.pin(block);
  ++prefetching_;
  Flight flight;
  flight.start = simulation_.now();
  flight.ready = channels_.read(flight.start, block, bytes);
  flight.bytes = bytes;
  flight.cause = FetchCause::prefetch;
  flight.under_way = prefetching_ + demanding_;
  in_flight_[block] = flight;
  simulation_.at(flight.ready, *this, arrived, block);
  ++statistics_.prefetches;
  statistics_.prefetch_bytes += bytes;
  return true;
}

void Store::pump() {
  while (!blocked_ && demanding_ == 0 && prefetching_ < parameters_.prefetch_outstanding) {
    const Request* const first = first_request();
    if (first == nullptr) return;
    const BlockId block = first->second;
    if (!cache_.contains(block) && !in_flight_.contains(block) && !start_prefetch(block, queued_.find(block)->bytes)) {
      blocked_ = true;
      return;
    }
    queued_.erase(block);
  }
}

// A fetch waits for one of the bounded slots, then for its channels.
SimTime Store::demand(BlockId block, std::uint64_t bytes) {
  const auto slot = std::min_element(demand_slots_.begin(), demand_slots_.end());
  Flight flight;
  flight.start = std::max(simulation_.now(), *slot);
  flight.ready = *slot = channels_.read(flight.start, block, bytes);
  flight.bytes = bytes;
  flight.cause = FetchCause::demand;
  evicted_.clear();
  flight.cached = cache_.admit(block, bytes, FetchCause::demand, evicted_) == cachemodel::Admission::admitted;
  note_evictions(nullptr);
  if (flight.cached) cache_.pin(block);
  flight.under_way = prefetching_ + ++demanding_;
  in_flight_[block] = flight;
  simulation_.at(flight.ready, *this, arrived, block);
  statistics_.demand_bytes += bytes;
  return flight.ready;
}

Asked Store::ask(BlockId block, std::uint64_t bytes) {
  blocked_ = false;
  cache_.pin(block);  // first: a pinned block is ranked for nothing
  const cachemodel::Access access = cache_.access(block);
  Asked asked{Found::hit, access.first_use_of_prefetch ? Origin::prefetched : Origin::resident, simulation_.now(),
              true};
  if (const Flight* const flight = in_flight_.find(block); flight != nullptr) {
    const bool prefetch = flight->cause == FetchCause::prefetch;
    if (flight->ready > simulation_.now())  // else it was demanded, has come and is being written
      asked = {prefetch ? Found::late : Found::miss, prefetch ? Origin::prefetched : Origin::demand, flight->ready,
               access.resident};
    else
      asked.held = access.resident;
  } else if (!access.resident) {
    queued_.erase(block);
    asked = {Found::miss, Origin::demand, demand(block, bytes), false};
    asked.held = cache_.contains(block);
    cache_.pin(block);
  }
  if (access.first_use_of_prefetch) {
    ++statistics_.prefetches_used;
    if (const Flight* const waiting = unused_.find(block); waiting != nullptr) {
      tell_transfer(block, *waiting, true);
      unused_.erase(block);
    }
  }
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

// On one bus reads get what the fills since the last call left, a tenth at least.
double Store::bandwidth_for_reads() {
  if (!parameters_.l1_one_bus) return parameters_.l1_bandwidth;
  const SimTime since = simulation_.now() - shared_;
  const double share =
      since > 0 ? std::min(static_cast<double>(filling_) / static_cast<double>(since), kMostForFills) : filled_share_;
  if (since > 0) filling_ = 0;
  filled_share_ = share;
  shared_ = simulation_.now();
  return parameters_.l1_bandwidth * (1 - share);
}

// What comes is written as it comes, one after the other: the block lands when its last byte is written, which is at
// its arrival where L1 is faster than what brings it.
SimTime Store::fill(std::uint64_t bytes) {
  const SimTime written = time_for(static_cast<double>(bytes), parameters_.l1_bandwidth);
  filled_ = std::max(filled_, simulation_.now() - written) + written;
  filling_ += written;
  return std::max(filled_, simulation_.now());
}

void Store::on_event(std::uint32_t kind, std::uint64_t block) {
  Flight& flight = *in_flight_.find(block);
  if (kind == arrived) {
    const bool prefetch = flight.cause == FetchCause::prefetch;
    if (!prefetch) --demanding_;
    const SimTime written = flight.cached ? fill(flight.bytes) : simulation_.now();
    if (prefetch) flight.ready = written;  // what was demanded is at the modules already
    if (written > simulation_.now()) {
      simulation_.at(written, *this, landed, block);
      return pump();
    }
  }
  land(block);
}

void Store::land(BlockId block) {
  const Flight flight = *in_flight_.find(block);
  in_flight_.erase(block);
  if (flight.cached) cache_.unpin(block);
  const bool prefetch = flight.cause == FetchCause::prefetch;
  if (prefetch) --prefetching_;
  if (listener_ != nullptr) {
    if (prefetch) listener_->on_prefetch({PrefetchPoint::completed, block, flight.bytes});
    if (prefetch && !cache_.used(block)) {
      unused_[block] = flight;
    } else {
      tell_transfer(block, flight, true);
    }
  }
  pump();
}

void Store::settle() {
  if (listener_ == nullptr) return;
  std::vector<std::pair<SimTime, BlockId>> left;
  unused_.each([&left](BlockId block, const Flight& flight) { left.emplace_back(flight.ready, block); });
  std::sort(left.begin(), left.end());
  for (const auto& [ready, block] : left) tell_transfer(block, *unused_.find(block), false);
  unused_.clear();
}

}  // namespace dmprof::simcard
