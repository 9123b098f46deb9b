// Resident blocks ordered by how soon they should go; the common part of the policies. O(log n) per call.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "dmprof/cachemodel/block.h"

namespace dmprof::cachemodel {

// The smallest rank goes first; equal ranks by the smaller block id.
struct Rank {
  std::uint32_t group = 0;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  auto operator<=>(const Rank&) const = default;
};

class RankedBlocks {
 public:
  struct Candidate {
    Rank rank;
    BlockId block = 0;
    auto operator<=>(const Candidate&) const = default;
  };

  bool contains(BlockId block) const { return entries_.contains(block); }
  // The rank of a block that is present.
  Rank rank(BlockId block) const { return entries_.at(block).rank; }

  void insert(BlockId block, std::uint64_t bytes, Rank rank);
  // These three do nothing where the block is absent.
  void set_rank(BlockId block, Rank rank);
  void set_pinned(BlockId block, bool pinned);
  void erase(BlockId block);

  // Appends unpinned blocks in rank order until their bytes reach `bytes`. `acceptable(candidate)` returning false ends
  // the search. Returns false and appends nothing where that is not enough.
  template <class Acceptable>
  bool collect(std::uint64_t bytes, std::vector<BlockId>& victims, Acceptable acceptable) const {
    const std::size_t before = victims.size();
    std::uint64_t freed = 0;
    for (const Candidate& candidate : candidates_) {
      if (freed >= bytes || !acceptable(candidate)) break;
      victims.push_back(candidate.block);
      freed += entries_.at(candidate.block).bytes;
    }
    if (freed >= bytes) return true;
    victims.resize(before);
    return false;
  }

 private:
  struct Entry {
    std::uint64_t bytes = 0;
    Rank rank;
    bool pinned = false;
  };

  std::unordered_map<BlockId, Entry> entries_;
  std::set<Candidate> candidates_;  // the unpinned ones
};

}  // namespace dmprof::cachemodel
