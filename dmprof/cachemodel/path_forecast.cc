#include "dmprof/cachemodel/path_forecast.h"

#include <algorithm>
#include <utility>

namespace dmprof::cachemodel {
namespace {

constexpr std::size_t kMostGaps = 8;  // in a row; behind more of them the alignment is guesswork

// Alternatives followed at each step of a walk; fewer than a prediction's, for a walk is long.
constexpr std::size_t kStates = 32;
constexpr double kNegligible = 1.0 / 64;

// The most probable block of a distribution (which is ordered by position, not by block).
State likeliest_block(const Distribution& states) {
  State best;
  for (const State& each : states) {
    double sum = 0;
    for (const State& other : states) {
      if (other.position.current == each.position.current) sum += other.probability;
    }
    if (sum > best.probability) best = {each.position, sum};
  }
  return best;
}

}  // namespace

PathForecast::PathForecast(std::shared_ptr<const TransitionMatrix> matrix, std::size_t horizon, double confidence)
    : matrix_(std::move(matrix)), horizon_(horizon), confidence_(confidence) {}

bool PathForecast::follow(BlockId block) {
  if (path_.empty()) return false;
  const Step head = path_.front();
  if (head.block && *head.block != block) return false;
  // A named block that comes already inside a gap: the path is out of step.
  if (!head.block && next_use_.contains(block)) return false;
  path_.pop_front();
  gaps_at_end_ = std::min(gaps_at_end_, path_.size());
  if (head.block) {
    confirmed_ = head.probability;
    came_true_ = true;
    next_use_.erase(block);
  }
  return true;
}

bool PathForecast::walk_is_due() {
  if (waits_ > 0) {
    --waits_;
    return waits_ == 0;
  }
  pause_ = came_true_ ? 0 : std::clamp(2 * pause_, 1u, kLongestPause);
  waits_ = pause_;
  return waits_ == 0;
}

void PathForecast::advance(BlockId block, std::uint64_t tick, std::vector<BlockId>& changed) {
  if (!matrix_) return;
  changed.push_back(block);
  if (!follow(block) || path_.empty()) {
    for (const auto& [each, when] : next_use_) changed.push_back(each);
    path_.clear();
    next_use_.clear();
    gaps_at_end_ = 0;
    confirmed_ = 1;
    end_.clear();
    if (!walk_is_due()) return;
    came_true_ = false;
    if (matrix_->position()) end_.push_back({*matrix_->position(), 1.0});
  }
  extend(tick, changed);
}

void PathForecast::extend(std::uint64_t tick, std::vector<BlockId>& changed) {
  while (path_.size() < horizon_) {
    Distribution next = matrix_->advance(end_, kStates, kNegligible);
    if (next.empty()) return;
    const State best = likeliest_block(next);
    const bool named = best.probability >= confidence_ * confirmed_;
    if (named && next_use_.contains(best.position.current)) return;  // gone round: its next use is known already
    if (!named && gaps_at_end_ >= kMostGaps) return;
    end_ = std::move(next);
    gaps_at_end_ = named ? 0 : gaps_at_end_ + 1;
    path_.push_back({named ? std::optional(best.position.current) : std::nullopt, best.probability});
    if (!named) continue;
    next_use_[best.position.current] = tick + path_.size();
    changed.push_back(best.position.current);
  }
}

std::optional<std::uint64_t> PathForecast::next_use(BlockId block) const {
  const auto found = next_use_.find(block);
  if (found == next_use_.end()) return std::nullopt;
  return found->second;
}

}  // namespace dmprof::cachemodel
