#include "dmprof/cachemodel/ranked_blocks.h"

namespace dmprof::cachemodel {

void RankedBlocks::insert(BlockId block, std::uint64_t bytes, Rank rank) {
  erase(block);
  entries_.emplace(block, Entry{bytes, rank, false});
  candidates_.insert({rank, block});
}

void RankedBlocks::set_rank(BlockId block, Rank rank) {
  const auto found = entries_.find(block);
  if (found == entries_.end() || found->second.rank == rank) return;
  Entry& entry = found->second;
  if (!entry.pinned) {
    auto node = candidates_.extract({entry.rank, block});
    node.value() = {rank, block};
    candidates_.insert(std::move(node));
  }
  entry.rank = rank;
}

void RankedBlocks::set_pinned(BlockId block, bool pinned) {
  const auto found = entries_.find(block);
  if (found == entries_.end() || found->second.pinned == pinned) return;
  found->second.pinned = pinned;
  if (pinned) {
    candidates_.erase({found->second.rank, block});
  } else {
    candidates_.insert({found->second.rank, block});
  }
}

void RankedBlocks::erase(BlockId block) {
  const auto found = entries_.find(block);
  if (found == entries_.end()) return;
  if (!found->second.pinned) candidates_.erase({found->second.rank, block});
  entries_.erase(found);
}

}  // namespace dmprof::cachemodel
