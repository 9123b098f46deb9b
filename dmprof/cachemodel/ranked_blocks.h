// Resident blocks ordered by how soon they should go; the common part of the policies. A heap with an index: O(log n)
// per call, no allocation once it has grown.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "dmprof/base/flat_map.h"
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

  bool contains(BlockId block) const { return slots_.contains(block); }
  // The rank of a block that is present.
  Rank rank(BlockId block) const { return entries_[*slots_.find(block)].rank; }

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
    for (InOrder next(*this); freed < bytes;) {
      if (next.ended() || !acceptable(next.candidate())) {
        victims.resize(before);
        return false;
      }
      victims.push_back(next.candidate().block);
      freed += entries_[next.slot()].bytes;
      if (freed < bytes) next.advance();
    }
    return true;
  }

 private:
  static constexpr std::size_t kArity = 4;
  static constexpr std::size_t kPinned = SIZE_MAX;

  struct Entry {
    std::uint64_t bytes = 0;
    Rank rank;
    std::size_t place = kPinned;  // in heap_
  };
  struct Node {
    Candidate candidate;
    std::uint32_t slot = 0;  // of its entry
  };

  // Goes through the heap from the smallest on, without changing it.
  class InOrder {
   public:
    explicit InOrder(const RankedBlocks& blocks) : heap_(blocks.heap_) {}
    bool ended() const { return here_ >= heap_.size(); }
    const Candidate& candidate() const { return heap_[here_].candidate; }
    std::uint32_t slot() const { return heap_[here_].slot; }
    void advance();

   private:
    const std::vector<Node>& heap_;
    std::size_t here_ = 0;
    std::vector<std::size_t> open_;  // places whose parents were visited
  };

  void put_in(BlockId block, std::uint32_t slot);
  void take_out(Entry& entry);
  void settle(std::size_t hole, Node node);
  void place(std::size_t where, const Node& node);

  FlatMap<std::uint32_t> slots_;  // where a block's entry is
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;  // entries that nobody has
  std::vector<Node> heap_;           // the unpinned ones
};

}  // namespace dmprof::cachemodel
