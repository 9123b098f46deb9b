#include "dmprof/cachemodel/ranked_blocks.h"

#include <algorithm>

namespace dmprof::cachemodel {

void RankedBlocks::place(std::size_t where, const Node& node) {
  heap_[where] = node;
  entries_[node.slot].place = where;
}

// Fills the hole with the node, which goes up or down from there to where it belongs.
void RankedBlocks::settle(std::size_t hole, Node node) {
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kArity;
    if (!(node.candidate < heap_[parent].candidate)) break;
    place(hole, heap_[parent]);
    hole = parent;
  }
  for (;;) {
    const std::size_t first = hole * kArity + 1;
    if (first >= heap_.size()) break;
    const std::size_t end = std::min(first + kArity, heap_.size());
    std::size_t least = first;
    for (std::size_t i = first + 1; i < end; ++i) {
      if (heap_[i].candidate < heap_[least].candidate) least = i;
    }
    if (!(heap_[least].candidate < node.candidate)) break;
    place(hole, heap_[least]);
    hole = least;
  }
  place(hole, node);
}

void RankedBlocks::put_in(BlockId block, std::uint32_t slot) {
  const Node node{{entries_[slot].rank, block}, slot};
  heap_.push_back(node);
  settle(heap_.size() - 1, node);
}

void RankedBlocks::take_out(Entry& entry) {
  const std::size_t hole = entry.place;
  entry.place = kPinned;
  const Node last = heap_.back();
  heap_.pop_back();
  if (hole < heap_.size()) settle(hole, last);
}

void RankedBlocks::insert(BlockId block, std::uint64_t bytes, Rank rank) {
  erase(block);
  std::uint32_t slot = static_cast<std::uint32_t>(entries_.size());
  if (free_.empty()) {
    entries_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  slots_[block] = slot;
  entries_[slot] = {bytes, rank, kPinned};
  put_in(block, slot);
}

void RankedBlocks::set_rank(BlockId block, Rank rank) {
  const std::uint32_t* const slot = slots_.find(block);
  if (slot == nullptr || entries_[*slot].rank == rank) return;
  Entry& entry = entries_[*slot];
  entry.rank = rank;
  if (entry.place != kPinned) settle(entry.place, {{rank, block}, *slot});
}

void RankedBlocks::set_pinned(BlockId block, bool pinned) {
  const std::uint32_t* const slot = slots_.find(block);
  if (slot == nullptr || (entries_[*slot].place == kPinned) == pinned) return;
  if (pinned) {
    take_out(entries_[*slot]);
  } else {
    put_in(block, *slot);
  }
}

void RankedBlocks::erase(BlockId block) {
  const std::uint32_t* const found = slots_.find(block);
  if (found == nullptr) return;
  const std::uint32_t slot = *found;
  if (entries_[slot].place != kPinned) take_out(entries_[slot]);
  free_.push_back(slot);
  slots_.erase(block);
}

void RankedBlocks::InOrder::advance() {
  const auto later = [this](std::size_t a, std::size_t b) { return heap_[b].candidate < heap_[a].candidate; };
  const std::size_t first = here_ * kArity + 1;
  const std::size_t end = std::min(first + kArity, heap_.size());
  for (std::size_t i = first; i < end; ++i) {
    open_.push_back(i);
    std::push_heap(open_.begin(), open_.end(), later);
  }
  if (open_.empty()) {
    here_ = heap_.size();
    return;
  }
  std::pop_heap(open_.begin(), open_.end(), later);
  here_ = open_.back();
  open_.pop_back();
}

}  // namespace dmprof::cachemodel
