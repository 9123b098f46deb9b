// The rings of one engine: a memfd that the collector makes, allocates and seals against shrinking, and the engine maps
// through /proc/PID/fd. Slots are copied out before anybody looks at them, so an engine that scribbles over its ring
// can produce wrong events but no torn reads. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/sdk/abi.h"

namespace dmprof::ring {

// What all arenas of a collector may take together.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t bytes) : left_(bytes) {}
  bool take(std::uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  void give(std::uint64_t bytes) { left_ += bytes; }
  std::uint64_t left() const { return left_; }

 private:
  std::uint64_t left_;
};

class Arena {
 public:
  // `ring_slots`: rounded up to a power of two, 64 to 2^26. Makes `rings` rings at once and more with grow().
  // environment: the budget or the machine has not enough memory. The budget must outlive the arena.
  static Result<std::unique_ptr<Arena>> make(std::uint64_t ring_slots, std::uint32_t rings, std::uint32_t generation,
                                             MemoryBudget& budget);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  std::string path() const;  // for the announcement
  std::uint64_t bytes() const { return bytes_; }
  std::uint32_t rings() const { return ready_; }
  std::uint32_t free_rings() const;
  // Makes up to `count` further rings; says so in the arena when that was the last.
  void grow(std::uint32_t count);

  // Slots that wait in a ring. More than the ring holds: the engine damaged it; then it is read no more.
  std::uint64_t waiting(std::uint32_t ring) const;
  bool damaged(std::uint32_t ring) const { return state_[ring].damaged; }
  // Copies up to `limit` waiting slots (of `waiting`, read before) to `out`.
  void copy(std::uint32_t ring, std::uint64_t limit, std::vector<dmprof_slot>& out) const;
  // Gives `slots` slots back to the engine and wakes it when it waits for room.
  void consume(std::uint32_t ring, std::uint64_t slots);
  // Offers a ring whose thread has ended and that is empty to other threads. Call after `ended` and a drain.
  bool ended(std::uint32_t ring) const;
  void recycle(std::uint32_t ring);

 private:
  struct State {
    std::uint64_t tail = 0;  // our own copy: the shared one may be scribbled over
    mutable bool damaged = false;
  };
  explicit Arena(MemoryBudget& budget) : budget_(budget) {}
  dmprof_ring_header& header(std::uint32_t ring) const;

  MemoryBudget& budget_;
  int fd_ = -1;
  char* memory_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t slots_ = 0;
  std::uint64_t first_slot_ = 0;  // offset of ring 0
  std::uint32_t count_ = 0;
  std::uint32_t ready_ = 0;
  std::uint64_t taken_ = 0;
  std::vector<State> state_;
};

}  // namespace dmprof::ring
