// Policy 2: the block whose predicted next use is farthest goes first.
#include <algorithm>
#include <limits>
#include <list>
#include <set>
#include <unordered_map>
#include <utility>

#include "dmprof/cachemodel/path_forecast.h"
#include "dmprof/cachemodel/policies.h"
#include "dmprof/cachemodel/ranked_blocks.h"

namespace dmprof::cachemodel {
namespace {

constexpr std::uint32_t kDead = 0;  // overdue by more than its interval: the prediction was wrong
constexpr std::uint32_t kLive = 1;

class PredictionAware final : public CachePolicy {
 public:
  PredictionAware(std::shared_ptr<const TransitionMatrix> matrix, const PolicyOptions& options)
      : path_(std::move(matrix), options.path_horizon, options.path_confidence),
        remembered_(std::max<std::size_t>(options.remembered_blocks, 1)) {}

  void on_access(BlockId block) override {
    ++tick_;
    remember(block);
    foreseen_.erase(block);
    changed_.clear();
    path_.advance(block, tick_, changed_);
    changed_.push_back(block);
    for (const BlockId each : changed_) rank_again(each);
    bury_overdue();
  }

  void on_insert(BlockId block, std::uint64_t bytes, FetchCause) override {
    const Forecast forecast = predict(block);
    blocks_.insert(block, bytes, live_rank(forecast.tick));
    set_deadline(block, forecast.deadline);
  }

  void on_remove(BlockId block) override {
    blocks_.erase(block);
    set_deadline(block, kNever);
  }

  void set_pinned(BlockId block, bool pinned) override { blocks_.set_pinned(block, pinned); }

  void foresee(BlockId block, std::uint64_t accesses) override {
    if (foreseen_.size() >= remembered_) foreseen_.clear();  // a bound; what is still right is foreseen again
    foreseen_[block] = {tick_ + accesses, tick_ + 2 * accesses + 1};
    rank_again(block);
  }

  bool choose_victims(const VictimQuery& query, std::vector<BlockId>& victims) const override {
    const Rank incoming = live_rank(predict(query.incoming).tick);
    return blocks_.collect(query.bytes, victims, [&](const RankedBlocks::Candidate& candidate) {
      return query.cause == FetchCause::demand || candidate.rank < incoming;
    });
  }

 private:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  struct History {
    std::uint64_t last = 0;
    std::uint64_t interval = 0;  // 0: accessed once so far
    std::list<BlockId>::iterator age;
  };
  struct Forecast {
    std::uint64_t tick = 0;
    std::uint64_t deadline = kNever;
  };

  static Rank live_rank(std::uint64_t tick) { return {kLive, kNever - tick, 0}; }

  void remember(BlockId block) {
    const auto found = history_.find(block);
    if (found != history_.end()) {
      History& history = found->second;
      const std::uint64_t interval = tick_ - history.last;
      history.interval =
          history.interval == 0 ? interval : std::max<std::uint64_t>(1, (3 * history.interval + interval) / 4);
      history.last = tick_;
      by_age_.splice(by_age_.end(), by_age_, history.age);
      return;
    }
    if (history_.size() >= remembered_) {
      history_.erase(by_age_.front());
      by_age_.pop_front();
    }
    by_age_.push_back(block);
    history_.emplace(block, History{tick_, 0, std::prev(by_age_.end())});
  }

  Forecast predict(BlockId block) const {
    if (const auto found = foreseen_.find(block); found != foreseen_.end() && found->second.deadline >= tick_)
      return found->second;
    if (const auto on_path = path_.next_use(block)) return {*on_path, kNever};
    const std::uint64_t everything = std::max<std::uint64_t>(history_.size(), 1);
    const auto found = history_.find(block);
    const std::uint64_t last = found == history_.end() ? tick_ : found->second.last;
    const std::uint64_t interval =
        found == history_.end() || found->second.interval == 0 ? everything : found->second.interval;
    return {last + interval, last + 2 * interval};
  }

  void rank_again(BlockId block) {
    if (!blocks_.contains(block)) return;
    const Forecast forecast = predict(block);
    blocks_.set_rank(block, live_rank(forecast.tick));
    set_deadline(block, forecast.deadline);
  }

  void set_deadline(BlockId block, std::uint64_t deadline) {
    const auto found = deadline_.find(block);
    if (found != deadline_.end()) {
      if (found->second == deadline) return;
      by_deadline_.erase({found->second, block});
      deadline_.erase(found);
    }
    if (deadline == kNever) return;
    deadline_.emplace(block, deadline);
    by_deadline_.insert({deadline, block});
  }

  void bury_overdue() {
    while (!by_deadline_.empty() && by_deadline_.begin()->first < tick_) {
      const auto [deadline, block] = *by_deadline_.begin();
      set_deadline(block, kNever);
      blocks_.set_rank(block, {kDead, deadline, 0});
    }
  }

  PathForecast path_;
  std::size_t remembered_;
  std::uint64_t tick_ = 0;
  RankedBlocks blocks_;
  std::unordered_map<BlockId, History> history_;
  std::unordered_map<BlockId, Forecast> foreseen_;
  std::list<BlockId> by_age_;  // remembered blocks, last access longest ago first
  std::unordered_map<BlockId, std::uint64_t> deadline_;
  std::set<std::pair<std::uint64_t, BlockId>> by_deadline_;
  std::vector<BlockId> changed_;
};

}  // namespace

std::unique_ptr<CachePolicy> make_prediction(std::shared_ptr<const TransitionMatrix> matrix,
                                             const PolicyOptions& options) {
  return std::make_unique<PredictionAware>(std::move(matrix), options);
}

}  // namespace dmprof::cachemodel
