// Where the events of one key (a step, a request) lie in a vector of events.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace dmprof {

// Built once in O(n) when keys rise, as step ids do, else O(n log n); find() is O(log n). Events keep their order.
class KeyIndex {
 public:
  struct Entry {
    std::uint64_t key = 0;
    std::size_t position = 0;  // in the vector of events
  };

  template <class Events, class Key>
  void build(const Events& events, Key&& key) {
    entries_.clear();
    entries_.reserve(events.size());
    for (std::size_t i = 0; i < events.size(); ++i) entries_.push_back({key(events[i]), i});
    const auto before = [](const Entry& a, const Entry& b) { return a.key < b.key; };
    if (!std::is_sorted(entries_.begin(), entries_.end(), before))
      std::stable_sort(entries_.begin(), entries_.end(), before);
    built_ = true;
  }
  bool built() const { return built_; }

  std::span<const Entry> find(std::uint64_t key) const {
    const auto first =
        std::partition_point(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key < key; });
    const auto last = std::partition_point(first, entries_.end(), [&](const Entry& e) { return e.key == key; });
    return {first, last};
  }

 private:
  std::vector<Entry> entries_;
  bool built_ = false;
};

}  // namespace dmprof
