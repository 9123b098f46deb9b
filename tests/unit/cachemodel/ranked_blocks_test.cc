#include "dmprof/cachemodel/ranked_blocks.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace dmprof::cachemodel {
namespace {

struct Known {
  std::uint64_t bytes = 0;
  Rank rank;
  bool pinned = false;
};

// What collect() must say, computed by sorting.
std::vector<BlockId> in_order(const std::map<BlockId, Known>& known, std::uint64_t bytes, std::uint32_t last_group) {
  std::vector<RankedBlocks::Candidate> sorted;
  for (const auto& [block, each] : known) {
    if (!each.pinned) sorted.push_back({each.rank, block});
  }
  std::sort(sorted.begin(), sorted.end());
  std::vector<BlockId> victims;
  std::uint64_t freed = 0;
  for (const RankedBlocks::Candidate& each : sorted) {
    if (freed >= bytes || each.rank.group > last_group) break;
    victims.push_back(each.block);
    freed += known.at(each.block).bytes;
  }
  return freed >= bytes ? victims : std::vector<BlockId>{};
}

TEST(RankedBlocks, gives_up_blocks_in_the_order_of_a_sorted_list_whatever_comes_goes_and_is_pinned) {
  std::mt19937_64 random(4);
  RankedBlocks blocks;
  std::map<BlockId, Known> known;
  for (int round = 0; round < 20'000; ++round) {
    const BlockId block = random() % 60;
    const Rank rank{static_cast<std::uint32_t>(random() % 2), random() % 8, random() % 3};
    switch (random() % 5) {
      case 0:
        blocks.insert(block, 1 + random() % 4, rank);
        known[block] = {};
        break;
      case 1:
        blocks.erase(block);
        known.erase(block);
        break;
      case 2:
        blocks.set_rank(block, rank);
        if (known.contains(block)) known[block].rank = rank;
        break;
      default: {
        const bool pinned = random() % 2 == 0;
        blocks.set_pinned(block, pinned);
        if (known.contains(block)) known[block].pinned = pinned;
      }
    }
    if (known.contains(block) && known[block].bytes == 0) {
      blocks.insert(block, 3, rank);  // in place of what stood there
      known[block] = {3, rank, false};
    }
    ASSERT_EQ(blocks.contains(block), known.contains(block));
    if (known.contains(block)) {
      ASSERT_EQ(blocks.rank(block), known[block].rank);
    }
    const std::uint64_t bytes = 1 + random() % 40;
    const auto last_group = static_cast<std::uint32_t>(random() % 2);
    std::vector<BlockId> victims;
    const bool enough = blocks.collect(
        bytes, victims, [&](const RankedBlocks::Candidate& candidate) { return candidate.rank.group <= last_group; });
    const std::vector<BlockId> expected = in_order(known, bytes, last_group);
    ASSERT_EQ(victims, expected);
    ASSERT_EQ(enough, !expected.empty());
  }
}

}  // namespace
}  // namespace dmprof::cachemodel
