// Policy 1: uses while resident, with dynamic ageing (the age is the rank of the last victim, Arlitt et al.,
// "Evaluating content management techniques for Web proxy caches", 2000).
#include <algorithm>
#include <deque>
#include <unordered_map>

#include "dmprof/cachemodel/policies.h"
#include "dmprof/cachemodel/ranked_blocks.h"

namespace dmprof::cachemodel {
namespace {

constexpr std::uint32_t kOrdinary = 0;
constexpr std::uint32_t kProtected =
    1;  // prefetched, waiting for its first use: last resort of a demand, never of a prefetch

class Lfu final : public CachePolicy {
 public:
  explicit Lfu(const PolicyOptions& options) : protect_accesses_(options.protect_accesses) {}

  void on_access(BlockId block) override {
    ++tick_;
    expire();
    const auto found = state_.find(block);
    if (found == state_.end()) return;
    State& state = found->second;
    // The insertion of a prefetched block counted its first use in advance, or it would be the next victim at once.
    if (state.waits_for_use) {
      state.waits_for_use = false;
    } else {
      ++state.uses;
    }
    blocks_.set_rank(block, {kOrdinary, age_ + state.uses, tick_});
  }

  void on_insert(BlockId block, std::uint64_t bytes, FetchCause cause) override {
    const bool prefetched = cause == FetchCause::prefetch;
    state_[block] = {1, prefetched, tick_ + protect_accesses_};
    blocks_.insert(block, bytes, {prefetched ? kProtected : kOrdinary, age_ + 1, tick_});
    if (prefetched) protected_.push_back({tick_ + protect_accesses_, block});
  }

  void on_remove(BlockId block) override {
    if (!blocks_.contains(block)) return;
    age_ = std::max(age_, blocks_.rank(block).first);
    blocks_.erase(block);
    state_.erase(block);
  }

  void set_pinned(BlockId block, bool pinned) override { blocks_.set_pinned(block, pinned); }

  bool choose_victims(const VictimQuery& query, std::vector<BlockId>& victims) const override {
    const bool may_take_protected = query.cause == FetchCause::demand;
    return blocks_.collect(query.bytes, victims, [&](const RankedBlocks::Candidate& candidate) {
      return may_take_protected || candidate.rank.group != kProtected;
    });
  }

 private:
  struct State {
    std::uint64_t uses = 0;
    bool waits_for_use = false;
    std::uint64_t protected_until = 0;
  };
  struct Expiry {
    std::uint64_t tick = 0;
    BlockId block = 0;
  };

  void expire() {
    while (!protected_.empty() && protected_.front().tick < tick_) {
      const Expiry expiry = protected_.front();
      protected_.pop_front();
      const auto found = state_.find(expiry.block);
      // The block may have been used, or evicted and prefetched again, since.
      if (found == state_.end() || !found->second.waits_for_use || found->second.protected_until != expiry.tick)
        continue;
      const Rank rank = blocks_.rank(expiry.block);
      blocks_.set_rank(expiry.block, {kOrdinary, rank.first, rank.second});
    }
  }

  std::uint64_t protect_accesses_;
  std::uint64_t tick_ = 0;
  std::uint64_t age_ = 0;
  RankedBlocks blocks_;
  std::unordered_map<BlockId, State> state_;
  std::deque<Expiry> protected_;
};

}  // namespace

std::unique_ptr<CachePolicy> make_lfu(const PolicyOptions& options) { return std::make_unique<Lfu>(options); }

}  // namespace dmprof::cachemodel
