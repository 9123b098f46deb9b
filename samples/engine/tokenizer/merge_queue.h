// Greedy pair merging over a chain of pieces, shared by both tokenizers: again and again the best neighbouring pair
// becomes one piece, leftmost first among equals. O(n log n).
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <string_view>
#include <vector>

namespace dmengine {

// `pieces` are consecutive views of one text. rank(left + right) gives the priority of a merge (lower first) or nothing
// when the two never merge; it is passed both parts.
template <class Rank>
std::vector<std::string_view> merge_pieces(const std::vector<std::string_view>& pieces, Rank rank) {
  struct Node {
    std::string_view text;  // empty: merged into the one before
    int32_t previous, next;
  };
  struct Candidate {
    double priority;
    int32_t left, right;
    size_t bytes;  // of both: tells a candidate whose parts have changed since
    bool operator<(const Candidate& other) const {
      return priority != other.priority ? priority > other.priority : left > other.left;
    }
  };
  const auto count = static_cast<int32_t>(pieces.size());
  std::vector<Node> nodes;
  nodes.reserve(pieces.size());
  for (int32_t i = 0; i < count; ++i)
    nodes.push_back({pieces[static_cast<size_t>(i)], i - 1, i + 1 < count ? i + 1 : -1});
  const auto node = [&nodes](int32_t i) -> Node& { return nodes[static_cast<size_t>(i)]; };

  std::priority_queue<Candidate> queue;
  const auto consider = [&](int32_t left, int32_t right) {
    if (left < 0 || right < 0) return;
    if (const std::optional<double> priority = rank(node(left).text, node(right).text)) {
      queue.push({*priority, left, right, node(left).text.size() + node(right).text.size()});
    }
  };
  for (int32_t i = 0; i + 1 < count; ++i) consider(i, i + 1);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Node& left = node(best.left);
    Node& right = node(best.right);
    if (left.text.empty() || right.text.empty() || left.text.size() + right.text.size() != best.bytes) continue;
    left.text = std::string_view(left.text.data(), best.bytes);
    right.text = {};
    left.next = right.next;
    if (right.next >= 0) node(right.next).previous = best.left;
    consider(left.previous, best.left);
    consider(best.left, left.next);
  }
  std::vector<std::string_view> merged;
  for (const Node& n : nodes) {
    if (!n.text.empty()) merged.push_back(n.text);
  }
  return merged;
}

}  // namespace dmengine
