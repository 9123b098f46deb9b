// A hash map from 64-bit keys to small values in one array: open addressing with linear probing, so that a look-up
// costs one cache miss where std::unordered_map costs two or three. For hot paths; elsewhere the standard's map is
// clearer.
//
// What is found depends on the keys alone, not on addresses; each() visits in an order that depends on the history, so
// whoever wants the same order every time sorts. Pointers and references hold until the next insertion or erasure. Not
// thread-safe. Values must be cheap to move and have a default.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace dmprof {

template <class Value>
class FlatMap {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool contains(std::uint64_t key) const { return find(key) != nullptr; }

  const Value* find(std::uint64_t key) const {
    const std::size_t place = place_of(key);
    return place == kAbsent ? nullptr : &slots_[place].value;
  }
  Value* find(std::uint64_t key) {
    const std::size_t place = place_of(key);
    return place == kAbsent ? nullptr : &slots_[place].value;
  }

  // The value of the key, and whether it is new (a default value then).
  std::pair<Value*, bool> insert(std::uint64_t key) {
    if (slots_.size() < 8 || size_ * 2 >= slots_.size()) grow();
    std::size_t i = home(key);
    for (; slots_[i].full; i = (i + 1) & mask()) {
      if (slots_[i].key == key) return {&slots_[i].value, false};
    }
    slots_[i].key = key;
    slots_[i].full = true;
    ++size_;
    return {&slots_[i].value, true};
  }
  Value& operator[](std::uint64_t key) { return *insert(key).first; }

  bool erase(std::uint64_t key) {
    std::size_t hole = place_of(key);
    if (hole == kAbsent) return false;
    // What lies behind moves up where it may: no tombstones, so look-ups stay short however long the map is used.
    for (std::size_t next = (hole + 1) & mask(); slots_[next].full; next = (next + 1) & mask()) {
      if (((next - home(slots_[next].key)) & mask()) < ((next - hole) & mask())) continue;
      slots_[hole] = std::move(slots_[next]);
      hole = next;
    }
    slots_[hole] = Slot{};
    --size_;
    return true;
  }

  void clear() {
    if (size_ == 0) return;
    for (Slot& slot : slots_) slot = Slot{};
    size_ = 0;
  }

  template <class Visit>
  void each(Visit visit) const {
    for (const Slot& slot : slots_) {
      if (slot.full) visit(slot.key, slot.value);
    }
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    Value value{};
    bool full = false;
  };

  static constexpr std::size_t kAbsent = SIZE_MAX;

  std::size_t place_of(std::uint64_t key) const {
    if (size_ == 0) return kAbsent;
    for (std::size_t i = home(key); slots_[i].full; i = (i + 1) & mask()) {
      if (slots_[i].key == key) return i;
    }
    return kAbsent;
  }
  std::size_t mask() const { return slots_.size() - 1; }
  // Keys are often consecutive, or multiples of something: all their bits decide.
  std::size_t home(std::uint64_t key) const {
    key = (key ^ (key >> 32)) * 0x9e3779b97f4a7c15;
    return static_cast<std::size_t>(key ^ (key >> 29)) & mask();
  }
  void grow() {
    std::vector<Slot> old(slots_.size() < 8 ? 8 : slots_.size() * 2);
    old.swap(slots_);
    for (Slot& slot : old) {
      if (!slot.full) continue;
      std::size_t i = home(slot.key);
      while (slots_[i].full) i = (i + 1) & mask();
      slots_[i] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most half of them full
  std::size_t size_ = 0;
};

}  // namespace dmprof
