// The most likely path ahead of the current position, kept up to date: while the accesses follow it, one step is
// dropped and one appended per access; only a wrong step costs a new walk, and while walks keep being wrong from their
// first named step on (accesses without a pattern) the next one waits longer, up to kLongestPause accesses. A block is
// on it once, at its next predicted use; steps of which no block is probable enough (the embedding block of a token not
// yet known) are gaps that anything matches.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "dmprof/cachemodel/block.h"
#include "dmprof/cachemodel/transition.h"

namespace dmprof::cachemodel {

class PathForecast {
 public:
  // A block is named where its probability is at least `confidence`. `matrix` may be null: nothing is forecast.
  PathForecast(std::shared_ptr<const TransitionMatrix> matrix, std::size_t horizon, double confidence);

  // `block` was accessed at `tick` (counted by the caller, one per access) and the matrix has observed it. Appends
  // every block whose forecast changed, some twice.
  void advance(BlockId block, std::uint64_t tick, std::vector<BlockId>& changed);
  // Tick of the next predicted use; nothing where the path does not reach the block.
  std::optional<std::uint64_t> next_use(BlockId block) const;

 private:
  struct Step {
    std::optional<BlockId> block;  // nothing: a gap
    double probability = 1;
  };

  static constexpr unsigned kLongestPause = 64;

  bool follow(BlockId block);
  bool walk_is_due();
  void extend(std::uint64_t tick, std::vector<BlockId>& changed);

  std::shared_ptr<const TransitionMatrix> matrix_;
  std::size_t horizon_;
  double confidence_;
  double confirmed_ = 1;  // probability of the last named step that came true: what lies behind it is conditional on it
  std::size_t gaps_at_end_ = 0;
  bool came_true_ = true;  // a named step of the current walk did
  unsigned pause_ = 0;     // length of the last pause
  unsigned waits_ = 0;     // accesses left of it
  Distribution end_;       // where the path ends
  std::deque<Step> path_;
  std::unordered_map<BlockId, std::uint64_t> next_use_;
};

}  // namespace dmprof::cachemodel
