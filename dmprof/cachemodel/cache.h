// The directory of a byte-budgeted cache: which blocks are resident, how large, pinned how often, brought by whom, and
// whether they were used. It holds no block data. One copy serves the engine, the simulated card and every replay.
//
// Not thread-safe; the owner locks. All calls are O(log n) plus the policy's cost.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/base/flat_map.h"
#include "dmprof/cachemodel/block.h"
#include "dmprof/cachemodel/policy.h"

namespace dmprof::cachemodel {

struct Evicted {
  BlockId block = 0;
  std::uint64_t bytes = 0;
  bool unused_prefetch = false;  // brought by a prefetch and never accessed since
};

struct Access {
  bool resident = false;
  bool first_use_of_prefetch = false;
};

enum class Admission : std::uint8_t {
  admitted,
  too_large,  // larger than the whole budget
  no_room,    // everything that could go is pinned; try again when something is released
  refused,    // the policy finds the prefetch worth less than its victims
};

class BlockCache {
 public:
  BlockCache(std::uint64_t budget_bytes, std::unique_ptr<CachePolicy> policy);

  bool contains(BlockId block) const { return entries_.contains(block); }
  bool used(BlockId block) const;           // accessed since it was inserted; false where absent
  std::uint32_t pins(BlockId block) const;  // 0 where absent
  std::uint64_t budget() const { return budget_; }
  std::uint64_t resident_bytes() const { return resident_bytes_; }
  std::uint64_t pinned_bytes() const { return pinned_bytes_; }
  std::size_t blocks() const { return entries_.size(); }

  // A demand access; call it once per access, before `admit` where the block is absent.
  Access access(BlockId block);
  // The block, resident or not, will be used `accesses` demand accesses from now: see CachePolicy::foresee.
  void foresee(BlockId block, std::uint64_t accesses) { policy_->foresee(block, accesses); }
  // Makes room and makes the block resident. Victims are appended to `evicted` (only when admitted). The block must be
  // absent.
  Admission admit(BlockId block, std::uint64_t bytes, FetchCause cause, std::vector<Evicted>& evicted);
  // Takes a block out (a cancelled transfer, a shrunken budget); nothing where it is absent or pinned.
  std::optional<Evicted> remove(BlockId block);

  // Pins nest. The block must be resident.
  void pin(BlockId block);
  void unpin(BlockId block);

  // A smaller budget evicts at once, as for a demand. False (and nothing changed) where the pinned blocks alone exceed
  // it.
  bool set_budget(std::uint64_t bytes, std::vector<Evicted>& evicted);
  // The new policy learns the resident blocks in order of their last access.
  void set_policy(std::unique_ptr<CachePolicy> policy);

 private:
  struct Entry {
    std::uint64_t bytes = 0;
    std::uint64_t last_access = 0;  // or insertion
    std::uint32_t pins = 0;
    FetchCause cause = FetchCause::demand;
    bool used = false;
  };

  Evicted take_out(BlockId block);

  std::uint64_t budget_;
  std::uint64_t resident_bytes_ = 0;
  std::uint64_t pinned_bytes_ = 0;
  std::uint64_t tick_ = 0;
  std::unique_ptr<CachePolicy> policy_;
  FlatMap<Entry> entries_;
  std::vector<BlockId> victims_;  // scratch
};

}  // namespace dmprof::cachemodel
