// The counting rule of a transition matrix's row, apart from how the row is stored: TransitionMatrix keeps wide rows in
// a hash map, the simulated card packs the rows of a token side by side.
//
// `Row` is a sequence of {block, count}, most frequent first, then the smaller block: size(), begin(), end(), back(),
// push_back(), pop_back(), resize().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace dmprof::cachemodel {

template <class Successor>
bool more_frequent(const Successor& a, const Successor& b) {
  return a.count != b.count ? a.count > b.count : a.block < b.block;
}

// Counts one transition to `next`. A full row gives up its rarest successor for a new one; a row whose `total` reaches
// `decay_at` has all counts halved.
template <class Row, class Block>
void count_successor(Row& row, std::uint32_t& total, Block next, std::size_t most, std::uint32_t decay_at) {
  auto found = std::find_if(row.begin(), row.end(), [next](const auto& each) { return each.block == next; });
  if (found == row.end()) {
    if (row.size() >= most) {
      total -= row.back().count;
      row.pop_back();
    }
    row.push_back({});
    row.back().block = next;
    found = std::prev(row.end());
  }
  ++found->count;
  ++total;
  for (; found != row.begin() && more_frequent(*found, *std::prev(found)); --found)
    std::iter_swap(found, std::prev(found));
  if (total < decay_at) return;
  total = 0;
  for (auto& each : row) total += each.count /= 2;
  row.resize(static_cast<std::size_t>(
      std::remove_if(row.begin(), row.end(), [](const auto& each) { return each.count == 0; }) - row.begin()));
  std::sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return more_frequent(a, b); });
}

}  // namespace dmprof::cachemodel
