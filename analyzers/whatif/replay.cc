#include "analyzers/whatif/replay.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dmprof/cachemodel/cache.h"
#include "dmprof/cachemodel/transition.h"

namespace dmprof::whatif {
namespace {

using cachemodel::Admission;
using cachemodel::BlockCache;
using cachemodel::FetchCause;
using cachemodel::PolicyKind;
using cachemodel::TransitionMatrix;

constexpr double never = 1e300;

class Replay {
 public:
  Replay(const AccessTrace& trace, const Link& link, const CacheSetup& setup)
      : trace_(trace),
        link_(link),
        setup_(setup),
        chain_(setup.prefetcher.kind == Prefetcher::Kind::chain),
        matrix_(std::make_shared<TransitionMatrix>(
            cachemodel::TransitionOptions{.order = chain_ ? setup.prefetcher.order : 1})),
        cache_(setup.budget, make_policy(setup.policy, follows_chain() ? matrix_ : nullptr)),
        demand_free_(std::max(1u, link.demand_slots), 0.0) {
    for (const TraceGroup& group : trace.groups) {
      for (const TraceBlock& block : group.blocks) {
        largest_ = std::max(largest_, block.bytes);
        if (sizes_.emplace(block.block, block.bytes).second) known_.push_back(block.block);
      }
    }
  }

  Replayed run() {
    for (std::size_t i = 0; i < trace_.groups.size(); ++i) {
      const TraceGroup& group = trace_.groups[i];
      if (group.first_of_step) announce(i);
      advance(now_ + group.work_before);
      now_ += group.work_before;
      ask(group);
    }
    return result_;
  }

 private:
  struct Flight {
    double ready = never;
    bool prefetch = false;
    bool moving = false;  // serial: its transfer has begun
    double issued = 0;
  };
  struct Wanted {  // what is asked for sooner is fetched sooner
    std::uint64_t place = 0, token = 0, block = 0;
    auto operator<=>(const Wanted&) const = default;
  };
  struct Announcement {
    double time = 0;
    Wanted wanted;
    std::uint64_t ahead = 0;
  };

  // Where announcements come from drafts, nothing says that blocks follow one another.
  bool follows_chain() const { return setup_.prefetcher.kind != Prefetcher::Kind::announced; }

  // The blocks of the step that the prediction names become known token by token while the step drafts. Which token
  // names a block is not recorded: each does as often as tokens ask for one in the mean, and at least one does.
  void announce(std::size_t first) {
    if (setup_.prefetcher.kind != Prefetcher::Kind::announced) return;
    wanted_.clear();
    announced_.clear();
    const TraceGroup& opening = trace_.groups[first];
    const double begin = now_ + opening.work_before - opening.drafting;
    const double pace = opening.tokens > 1 ? opening.drafting / (opening.tokens - 1) : 0;
    std::uint64_t ahead = 1;
    for (std::size_t i = first; i < trace_.groups.size() && trace_.groups[i].step == opening.step; ++i) {
      for (const TraceBlock& block : trace_.groups[i].blocks) {
        if (block.announced) {
          bool named = false;
          for (std::uint32_t token = 0; token < opening.tokens; ++token) {
            if (fraction() >= trace_.asked_by_token && (named || token + 1 < opening.tokens)) continue;
            announced_.push_back({begin + token * pace, {trace_.groups[i].place, token, block.block}, ahead});
            named = true;
          }
        }
        ++ahead;
      }
    }
    std::stable_sort(announced_.begin(), announced_.end(),
                     [](const Announcement& a, const Announcement& b) { return a.time < b.time; });
    next_announced_ = 0;
    blocked_ = false;
  }

  void hear(const Announcement& announcement) {
    cache_.foresee(announcement.wanted.block, announcement.ahead);
    const std::uint64_t block = announcement.wanted.block;
    if (setup_.prefetcher.forgets_resident && (cache_.contains(block) || in_flight_.contains(block))) return;
    wanted_.insert(announcement.wanted);
  }

  double fraction() {
    dice_ = dice_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(dice_ >> 33) * 0x1p-31;
  }

  // The consumer has observed the block: what does the matrix see ahead?
  void plan() {
    if (!chain_) return;
    // Further than once round everything there is nothing new.
    const auto distance = static_cast<std::uint32_t>(std::min<std::size_t>(setup_.prefetcher.distance, known_.size()));
    wanted_.clear();
    for (const cachemodel::Predicted& next :
         matrix_->predict(distance, known_.size(), setup_.prefetcher.least_probability))
      wanted_.insert({next.distance, 0, next.block});
    blocked_ = false;
    pump();
  }

  bool may_issue() const {
    if (blocked_ || prefetching_ >= setup_.prefetcher.outstanding) return false;
    return link_.serial || demanding_ == 0;
  }

  void pump() {
    while (!wanted_.empty() && may_issue()) {
      const std::uint64_t block = wanted_.begin()->block;
      if (!cache_.contains(block) && !in_flight_.contains(block) && !issue(block)) {
        blocked_ = true;
        return;
      }
      wanted_.erase(wanted_.begin());
      useless_due_ += issued_ ? setup_.prefetcher.useless : 0;
      issued_ = false;
      while (useless_due_ >= 1 && may_issue()) {
        useless_due_ -= 1;
        issue(drawn(known_));  // nobody asks for it in this step: as good as any
        issued_ = false;
      }
    }
  }

  template <class T>
  const T& drawn(const std::vector<T>& from) {
    dice_ = dice_ * 6364136223846793005ull + 1442695040888963407ull;
    return from[(dice_ >> 33) % from.size()];
  }

  bool issue(std::uint64_t block) {
    const auto size = sizes_.find(block);
    if (size == sizes_.end() || cache_.contains(block) || in_flight_.contains(block)) return true;
    // A demand must always find room, so prefetches may not pin everything.
    if (flying_bytes_ + size->second + largest_ > setup_.budget) return false;
    evicted_.clear();
    if (cache_.admit(block, size->second, FetchCause::prefetch, evicted_) != Admission::admitted) return false;
    cache_.pin(block);
    flying_bytes_ += size->second;
    ++prefetching_;
    ++result_.prefetches;
    issued_ = true;
    Flight flight{never, true, false, clock_};
    if (!link_.serial) flight.ready = clock_ + drawn(link_.prefetch_times), flight.moving = true;
    in_flight_[block] = flight;
    if (link_.serial) {
      queue_.push_back(block);
      begin_next();
    } else {
      landings_.push_back({flight.ready, block});
    }
    return true;
  }

  double move(double issued, double bytes) {
    const double start = std::max({link_free_, issued + link_.latency, clock_});
    return link_free_ = start + bytes * link_.ns_per_byte;
  }

  void begin_next() {
    if (queue_.empty() || link_free_ > clock_) return;
    const std::uint64_t block = queue_.front();
    queue_.pop_front();
    Flight& flight = in_flight_.at(block);
    flight.moving = true;
    // The latency has run since it was asked for.
    const double start = std::max({link_free_, flight.issued + link_.latency});
    link_free_ = flight.ready = std::max(start, clock_) + static_cast<double>(sizes_.at(block)) * link_.ns_per_byte;
    landings_.push_back({flight.ready, block});
  }

  // Everything that lands until `until`, one after the other.
  void advance(double until) {
    for (;;) {
      const auto next = std::min_element(landings_.begin(), landings_.end());
      const double lands = next == landings_.end() ? never : next->first;
      if (next_announced_ < announced_.size() && announced_[next_announced_].time <= std::min(lands, until)) {
        clock_ = std::max(clock_, announced_[next_announced_].time);
        hear(announced_[next_announced_++]);
        pump();
        continue;
      }
      if (lands > until) break;
      const auto [time, block] = *next;
      landings_.erase(next);
      clock_ = std::max(clock_, time);
      land(block);
      if (link_.serial) begin_next();
      pump();
    }
    clock_ = std::max(clock_, until);
    if (link_.serial) begin_next();
  }

  void land(std::uint64_t block) {
    const auto found = in_flight_.find(block);
    if (found == in_flight_.end()) return;
    if (found->second.prefetch) {
      --prefetching_;
      flying_bytes_ -= sizes_.at(block);
    } else {
      --demanding_;
    }
    in_flight_.erase(found);
    cache_.unpin(block);
  }

  double demand(std::uint64_t block, std::uint64_t bytes) {
    evicted_.clear();
    const bool kept = cache_.admit(block, bytes, FetchCause::demand, evicted_) == Admission::admitted;
    double ready = 0;
    if (link_.serial) {
      ready = move(clock_, static_cast<double>(bytes));
    } else {
      double& slot = *std::min_element(demand_free_.begin(), demand_free_.end());
      ready = slot = std::max(slot, clock_) + drawn(link_.demand_times);
    }
    if (kept) {
      cache_.pin(block);
      in_flight_[block] = {ready, false, true, clock_};
      landings_.push_back({ready, block});
      ++demanding_;
    }
    return ready;
  }

  struct Need {
    double ready = 0;
    bool came_from_afar = false;
    const TraceBlock* block = nullptr;
  };

  Need look_up(const TraceBlock& block, bool counted) {
    matrix_->observe(block.block);
    const bool resident = cache_.access(block.block).resident;
    Need need{clock_, false, &block};
    const auto flight = in_flight_.find(block.block);
    if (flight != in_flight_.end()) {
      const bool prefetch = flight->second.prefetch;
      if (!flight->second.moving) {  // at the head of the queue from now on
        queue_.erase(std::find(queue_.begin(), queue_.end(), block.block));
        flight->second.moving = true;
        flight->second.ready = move(flight->second.issued, static_cast<double>(block.bytes));
        landings_.push_back({flight->second.ready, block.block});
      }
      need.ready = flight->second.ready;
      need.came_from_afar = !prefetch;
      if (counted) ++(prefetch ? result_.late : result_.misses);
    } else if (resident) {
      if (counted) ++result_.hits;
    } else {
      need.ready = demand(block.block, block.bytes);
      need.came_from_afar = true;
      if (counted) ++result_.misses;
    }
    return need;
  }

  void ask(const TraceGroup& group) {
    needs_.clear();
    blocked_ = false;
    for (const TraceBlock& block : group.blocks) needs_.push_back(look_up(block, group.counted));
    plan();
    std::stable_sort(needs_.begin(), needs_.end(), [](const Need& a, const Need& b) { return a.ready < b.ready; });
    // Looking further ahead takes longer; while a block is waited for anyway it costs nothing.
    if (chain_ && setup_.prefetcher.plan_cost > 0) {
      now_ += setup_.prefetcher.plan_cost;
      if (group.counted) (group.draft ? result_.draft_wait : result_.verify_wait) += setup_.prefetcher.plan_cost;
    }
    now_ += group.lead;
    for (const Need& need : needs_) {
      double wait = std::max(0.0, need.ready - now_);
      if (wait > 0) wait += link_.wake_up;
      double work = need.block->work_after;
      if (trace_.grouped && need.block->hit == need.came_from_afar) {
        const double change = need.came_from_afar ? trace_.work_after_miss - trace_.work_after_hit
                                                  : trace_.work_after_hit - trace_.work_after_miss;
        const double changed = std::max(0.0, work + change);
        if (group.counted) result_.work_change += changed - work;
        work = changed;
      }
      advance(now_ + wait);
      now_ += wait + work;
      if (group.counted) (group.draft ? result_.draft_wait : result_.verify_wait) += wait;
      if (wait > 0) plan();
    }
    // What was not fetched in time for its use is of no use any more.
    if (!chain_) wanted_.erase(wanted_.begin(), wanted_.lower_bound({group.place + std::uint64_t{1}, 0, 0}));
    advance(now_);
    pump();
  }

  const AccessTrace& trace_;
  const Link& link_;
  const CacheSetup& setup_;
  const bool chain_;
  std::shared_ptr<TransitionMatrix> matrix_;
  BlockCache cache_;
  std::unordered_map<std::uint64_t, std::uint64_t> sizes_;
  std::vector<std::uint64_t> known_;
  std::unordered_map<std::uint64_t, Flight> in_flight_;
  std::vector<std::pair<double, std::uint64_t>> landings_;  // few: bounded by what may be under way
  std::deque<std::uint64_t> queue_;                         // serial: prefetches whose transfer has not begun
  std::set<Wanted> wanted_;                                 // to be prefetched as soon as there is room
  std::vector<Announcement> announced_;                     // of this step, by time
  std::size_t next_announced_ = 0;
  std::vector<double> demand_free_;
  std::vector<Need> needs_;
  std::vector<cachemodel::Evicted> evicted_;
  double now_ = 0;    // of the consumer
  double clock_ = 0;  // of the link and the prefetcher
  double link_free_ = 0, useless_due_ = 0;
  std::uint64_t largest_ = 0, flying_bytes_ = 0, dice_ = 1;
  std::uint32_t prefetching_ = 0, demanding_ = 0;
  bool blocked_ = false, issued_ = false;
  Replayed result_;
};

}  // namespace

Replayed replay(const AccessTrace& trace, const Link& link, const CacheSetup& setup) {
  return Replay(trace, link, setup).run();
}

double chain_agreement(const View& view, TierId tier, unsigned order) {
  TransitionMatrix matrix(cachemodel::TransitionOptions{.order = order});
  std::uint64_t same = 0, all = 0;
  for (const BlockAccess& access : view.recording().accesses) {
    if (access.tier != tier) continue;
    const auto expected = matrix.most_likely_next();
    matrix.observe(access.block);
    const Prediction said = !expected                   ? Prediction::none
                            : *expected == access.block ? Prediction::right
                                                        : Prediction::wrong;
    ++all;
    same += said == access.prediction;
  }
  return all == 0 ? 0 : static_cast<double>(same) / static_cast<double>(all);
}

}  // namespace dmprof::whatif
