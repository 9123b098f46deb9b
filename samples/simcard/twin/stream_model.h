// The streaming engine's block cache, prefetch thread and link in virtual time. It takes the decisions of the engine's
// streamer with the same cache directory, policies and transition matrix (dmprof/cachemodel); only time is imitated.
//
// Two actors share it. The engine calls acquire and release with its own clock, which never goes back; the prefetch
// thread is a state machine that is brought up to that clock before anything else happens, so both see one order of
// events. Deterministic for a given seed.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "dmprof/cachemodel/cache.h"
#include "dmprof/cachemodel/transition.h"
#include "samples/simcard/core/random.h"
#include "samples/simcard/twin/description.h"
#include "samples/simcard/twin/trace.h"

namespace dmprof::twin {

class StreamModel {
 public:
  // `blocks`: of the target, then of the draft. The budget must hold the largest block. All arguments but the blocks
  // must outlive the model.
  StreamModel(std::vector<Block> blocks, const Link& link, const Habits& habits, const Settings& settings,
              simcard::Random& random, Trace& trace);

  // The engine asks for a block at `now`; returns when it goes on. step and prefill are written into the trace.
  Time acquire(BlockId block, Time now, std::uint64_t step, bool prefill);
  void release(BlockId block) { cache_.unpin(block); }
  std::uint32_t max_held() const { return max_held_; }
  std::uint64_t bytes_of(BlockId block) const { return blocks_[block].bytes; }

 private:
  enum class SlotState : std::uint8_t { queued, moving, arrived };
  struct Slot {
    SlotState state = SlotState::queued;
    bool loading = false;  // a prefetch that is not complete
    Time issue = 0;
    Time ready_at = 0;
  };
  enum class ThreadState : std::uint8_t { idle, moving, sleeping };
  struct PrefetchThread {
    ThreadState state = ThreadState::idle;
    BlockId block = 0;
    Time next = 0;      // idle: earliest start of the next move; moving: its end; sleeping: the end of the sleep
    Time ready_at = 0;  // of the block it moved
  };

  void advance(Time until);
  void begin_move(Time now);
  void end_move();
  void wake();
  Time await(BlockId block, Time now, const Bins& overshoot);
  Time move_for_demand(BlockId block, Time now);
  void arrive(BlockId block, Time span_start, Time end, bool prefetch);
  struct Span {
    Time start, end;
  };
  Span reserve(Time issue, Time begin, std::uint64_t bytes);
  Time move_time(std::uint64_t bytes) const;
  Time plan(Time now);
  bool issue(BlockId block, Time now);
  void complete(BlockId block);
  void put_away(const std::vector<cachemodel::Evicted>& evicted);
  std::uint64_t room_for_demand() const { return max_held_ * largest_memory_; }

  const std::vector<Block> blocks_;
  const Link& link_;
  const Habits& habits_;
  simcard::Random& random_;
  Trace& trace_;
  std::uint32_t prefetch_distance_;
  double plan_cost_;
  std::shared_ptr<cachemodel::TransitionMatrix> matrix_;
  cachemodel::BlockCache cache_;
  std::uint64_t largest_memory_ = 0;
  std::uint32_t max_held_ = 1;
  std::unordered_map<BlockId, Slot> slots_;
  std::deque<BlockId> queue_;
  std::uint32_t outstanding_ = 0;
  std::uint64_t outstanding_memory_ = 0;
  std::uint32_t accesses_to_plan_ = 0;
  bool plan_was_cut_ = false;
  std::vector<cachemodel::Predicted> path_;  // from here on; planning again at the same place need not look again
  bool path_known_ = false;
  Time link_free_ = 0;   // the imitated link has work until then
  Time token_free_ = 0;  // a thread moves bytes until then
  PrefetchThread thread_;
};

}  // namespace dmprof::twin
