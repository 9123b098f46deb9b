#include "samples/simcard/twin/stream_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dmprof/cachemodel/policy.h"

namespace dmprof::twin {

using cachemodel::Admission;
using cachemodel::Evicted;
using cachemodel::FetchCause;
using cachemodel::PolicyKind;
using cachemodel::TransitionMatrix;
using cachemodel::TransitionOptions;

namespace {

// Constants of the engine's streamer that no recording carries.
constexpr std::uint32_t kMaxOutstanding = 4;
constexpr std::uint32_t kMaxHeld = 4;
constexpr double kLeastProbability = 0.2;
constexpr unsigned kMatrixOrder = 2;

std::shared_ptr<TransitionMatrix> make_matrix(std::size_t blocks) {
  TransitionOptions options;
  options.order = kMatrixOrder;
  options.max_rows = std::max(options.max_rows, 4 * blocks);
  return std::make_shared<TransitionMatrix>(options);
}

Time whole(double ns) { return static_cast<Time>(ns + 0.5); }

}  // namespace

StreamModel::StreamModel(std::vector<Block> blocks, const Link& link, const Habits& habits, const Settings& settings,
                         simcard::Random& random, Trace& trace)
    : blocks_(std::move(blocks)),
      link_(link),
      habits_(habits),
      random_(random),
      trace_(trace),
      prefetch_distance_(settings.prefetch_distance),
      plan_cost_(habits.plan * settings.prefetch_distance / std::max(habits.plan_distance, 1U)),
      matrix_(make_matrix(blocks_.size())),
      cache_(settings.resident,
             make_policy(cachemodel::policy_from(settings.cache_policy).value_or(PolicyKind::prediction), matrix_)) {
  for (const Block& block : blocks_) largest_memory_ = std::max(largest_memory_, block.memory);
  const std::uint64_t half = settings.resident / std::max<std::uint64_t>(largest_memory_, 1) / 2;
  max_held_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(half, 1, kMaxHeld));
}

Time StreamModel::acquire(BlockId block, Time now, std::uint64_t step, bool prefill) {
  advance(now);
  AccessRecord access;
  access.time = now;
  access.block = block;
  access.bytes = blocks_[block].bytes;
  access.step = step;
  access.prefill = prefill;
  const auto expected = matrix_->most_likely_next();
  matrix_->observe(block);
  path_known_ = false;
  access.predicted = expected && *expected == block;
  if (expected && *expected != block) accesses_to_plan_ = 0;
  const auto seen = cache_.access(block);
  if (accesses_to_plan_ > 0) --accesses_to_plan_;

  Time then = now;
  if (seen.resident) {
    cache_.pin(block);
    access.origin = seen.first_use_of_prefetch ? Origin::prefetched : Origin::resident;
    const Slot& slot = slots_.at(block);
    if (slot.state != SlotState::arrived || slot.ready_at > now) {
      access.outcome = Outcome::late;
      then = await(block, now, habits_.late_overshoot);
    }
  } else {
    access.outcome = Outcome::miss;
    access.origin = Origin::demand;
    std::vector<Evicted> evicted;
    // A budget that holds max_held blocks always has room for a demand: prefetches in flight leave it.
    if (cache_.admit(block, blocks_[block].memory, FetchCause::demand, evicted) == Admission::admitted) {
      put_away(evicted);
      cache_.pin(block);
      slots_[block] = {SlotState::queued, false, now, 0};
      then = await(block, now, habits_.miss_overshoot);
    }
  }
  if (access.outcome == Outcome::hit) {
    then = plan(now);
  } else {
    access.wait = then - now;
  }
  trace_.accesses.push_back(access);
  return then;
}

Time StreamModel::await(BlockId block, Time now, const Bins& overshoot) {
  if (slots_.at(block).state == SlotState::queued) {
    const auto queued = std::find(queue_.begin(), queue_.end(), block);
    if (queued != queue_.end()) queue_.erase(queued);
    now = move_for_demand(block, now);
  }
  accesses_to_plan_ = 0;
  now = plan(now);
  if (slots_.at(block).state == SlotState::moving) now = std::max(now, thread_.next);
  advance(now);
  const Time then = std::max(now, slots_.at(block).ready_at + whole(draw(overshoot, random_)));
  advance(then);
  if (slots_.at(block).loading) complete(block);
  return then;
}

Time StreamModel::move_for_demand(BlockId block, Time now) {
  if (thread_.state == ThreadState::moving) {
    now = std::max(now, thread_.next);
    advance(now);
  }
  Slot& slot = slots_.at(block);
  const Span span = reserve(slot.issue, now, blocks_[block].bytes);
  const Time moved = now + move_time(blocks_[block].bytes);
  token_free_ = moved;
  arrive(block, span.start, std::max(span.end, moved) + whole(draw(link_.excess, random_)), false);
  return moved;
}

StreamModel::Span StreamModel::reserve(Time issue, Time begin, std::uint64_t bytes) {
  if (!link_.imitated) return {begin, begin};
  const Time start = std::max(link_free_, issue + link_.latency);
  link_free_ = start + static_cast<Time>(std::ceil(static_cast<double>(bytes) / link_.bytes_per_second * 1e9));
  return {start, link_free_};
}

Time StreamModel::move_time(std::uint64_t bytes) const {
  return whole(link_.move_base + static_cast<double>(bytes) / link_.move_bytes_per_second * 1e9);
}

void StreamModel::arrive(BlockId block, Time span_start, Time end, bool prefetch) {
  Slot& slot = slots_.at(block);
  slot.state = SlotState::arrived;
  slot.ready_at = end;
  link_free_ = std::max(link_free_, end);
  trace_.transfers.push_back({span_start, end - span_start, block, blocks_[block].bytes, prefetch});
}

Time StreamModel::plan(Time now) {
  if (prefetch_distance_ == 0 || accesses_to_plan_ > 0) return now;
  accesses_to_plan_ = std::max(prefetch_distance_ / 4, 1U);
  plan_was_cut_ = false;
  const bool was_empty = queue_.empty();
  if (!path_known_) path_ = matrix_->predict(prefetch_distance_, blocks_.size(), kLeastProbability);
  path_known_ = true;
  for (const auto& next : path_) {
    if (cache_.contains(next.block)) continue;
    if (outstanding_ >= kMaxOutstanding || !issue(next.block, now)) {
      plan_was_cut_ = true;
      break;
    }
  }
  if (was_empty && thread_.state == ThreadState::idle) {
    thread_.next = now + whole(draw(habits_.prefetch_oversleep, random_));
  }
  return now + whole(plan_cost_);
}

bool StreamModel::issue(BlockId block, Time now) {
  const std::uint64_t memory = blocks_[block].memory;
  std::vector<Evicted> evicted;
  if (outstanding_memory_ + memory + room_for_demand() > cache_.budget() ||
      cache_.admit(block, memory, FetchCause::prefetch, evicted) != Admission::admitted) {
    return false;
  }
  put_away(evicted);
  cache_.pin(block);
  slots_[block] = {SlotState::queued, true, now, 0};
  queue_.push_back(block);
  ++outstanding_;
  outstanding_memory_ += memory;
  ++trace_.prefetches_issued;
  return true;
}

void StreamModel::complete(BlockId block) {
  slots_.at(block).loading = false;
  cache_.unpin(block);
  --outstanding_;
  outstanding_memory_ -= blocks_[block].memory;
}

void StreamModel::put_away(const std::vector<Evicted>& evicted) {
  for (const Evicted& each : evicted) {
    slots_.erase(each.block);
    trace_.prefetches_unused += each.unused_prefetch;
  }
}

// --- the prefetch thread

void StreamModel::advance(Time until) {
  while (true) {
    if (thread_.state == ThreadState::idle) {
      if (queue_.empty()) return;
      const Time start = std::max(thread_.next, token_free_);
      if (start > until) return;
      begin_move(start);
    } else {
      if (thread_.next > until) return;
      if (thread_.state == ThreadState::moving) {
        end_move();
      } else {
        wake();
      }
    }
  }
}

void StreamModel::begin_move(Time now) {
  thread_.block = queue_.front();
  queue_.pop_front();
  Slot& slot = slots_.at(thread_.block);
  slot.state = SlotState::moving;
  const Span span = reserve(slot.issue, now, blocks_[thread_.block].bytes);
  slot.ready_at = span.end;  // of the span until the bytes are there
  thread_.ready_at = span.start;
  thread_.next = now + move_time(blocks_[thread_.block].bytes);
  thread_.state = ThreadState::moving;
}

void StreamModel::end_move() {
  const Time moved = thread_.next;
  const Slot& slot = slots_.at(thread_.block);
  const Time end = std::max(slot.ready_at, moved) + whole(draw(link_.excess, random_));
  arrive(thread_.block, thread_.ready_at, end, true);
  token_free_ = moved;
  thread_.ready_at = end;
  thread_.next = end + whole(draw(habits_.prefetch_oversleep, random_));
  thread_.state = ThreadState::sleeping;
}

// The consumer that came too early may have completed the block already; then it may be gone, or on its way anew.
void StreamModel::wake() {
  Time now = thread_.next;
  const auto slot = slots_.find(thread_.block);
  if (slot != slots_.end() && slot->second.state == SlotState::arrived && slot->second.loading &&
      slot->second.ready_at == thread_.ready_at) {
    complete(thread_.block);
  }
  thread_.state = ThreadState::idle;
  if (plan_was_cut_) {
    accesses_to_plan_ = 0;
    now = plan(now);
  }
  thread_.next = now;
}

}  // namespace dmprof::twin
