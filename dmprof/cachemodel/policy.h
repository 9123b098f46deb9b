// Cache policies over blocks. A policy ranks the resident blocks; it owns no data and moves none (that is BlockCache,
// cache.h, and whoever owns the bytes). All are deterministic: equal ranks are resolved by the smaller block id.
//
// Pinned blocks (in use, or in flight) keep their rank but are never chosen. Not thread-safe; the owner locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "dmprof/cachemodel/block.h"
#include "dmprof/cachemodel/transition.h"

namespace dmprof::cachemodel {

// The numbers are those of DM_CACHE_POLICY.
enum class PolicyKind : std::uint8_t { lru = 0, lfu = 1, prediction = 2 };

std::string_view name_of(PolicyKind kind);                    // "lru", "lfu", "prediction"
std::optional<PolicyKind> policy_from(std::uint64_t number);  // nothing for an unknown number

// Room that is asked for.
struct VictimQuery {
  BlockId incoming = 0;
  std::uint64_t bytes = 0;  // to be freed, above 0
  FetchCause cause = FetchCause::demand;
};

class CachePolicy {
 public:
  virtual ~CachePolicy() = default;

  // Every demand access, resident or not. Where a transition matrix is shared, it has observed the access already. The
  // first access to a block after its on_insert is that block's first use, not a second one.
  virtual void on_access(BlockId block) = 0;
  // The block is resident (or its transfer has begun: the owner pins it meanwhile). For a demand fetch on_access came
  // before.
  virtual void on_insert(BlockId block, std::uint64_t bytes, FetchCause cause) = 0;
  // The block is gone: evicted, or its transfer was cancelled.
  virtual void on_remove(BlockId block) = 0;
  virtual void set_pinned(BlockId block, bool pinned) = 0;
  // The owner knows better: the block will be used `accesses` demand accesses from now (a draft named it). Resident or
  // not. Only policies that go by the next use care.
  virtual void foresee(BlockId /*block*/, std::uint64_t /*accesses*/) {}

  // Appends blocks whose bytes add up to the query's, best victim first, and returns true; returns false and appends
  // nothing where the unpinned blocks do not suffice or where the policy finds that the incoming prefetch is worth less
  // than what it would evict. Changes nothing: the owner calls on_remove for each.
  virtual bool choose_victims(const VictimQuery& query, std::vector<BlockId>& victims) const = 0;
};

struct PolicyOptions {
  // LFU: demand accesses during which a prefetched block that was not used yet may not be evicted for another prefetch.
  std::uint64_t protect_accesses = 256;
  // Prediction: longest path that is followed ahead, and the probability below which it ends.
  std::size_t path_horizon = 4096;
  double path_confidence = 0.5;
  // Prediction: blocks whose re-use interval is remembered after they left.
  std::size_t remembered_blocks = 1 << 16;
};

// 0, LRU: evicts the block accessed longest ago. A prefetched block counts as accessed when it is inserted and has no
// other
//    protection: a lookahead longer than the cache evicts its own prefetches. A cyclic scan larger than the cache hits
//    0.
// 1, LFU with ageing: rank = uses while resident + age, where age is the rank of the last victim (dynamic ageing), so
// that a
//    block popular long ago gives way after as many evictions as it once had uses. Equal ranks: the one used longest
//    ago. A prefetched block that waits for its first use cannot be evicted by another prefetch for `protect_accesses`
//    accesses; demand may take it.
// 2, prediction-aware, scan-resistant: evicts the block whose predicted next use is farthest. The prediction is the use
//    that the owner foresaw (foresee), else the position on the matrix's most likely path where the block is on it,
//    else last use + its own re-use interval (average of the last few), else last use + number of blocks known (a block
//    seen once is expected back when everything has gone round). A block that is overdue by more than its interval is
//    considered dead and goes first. On a cyclic scan larger than the cache that keeps a fixed part resident and lets
//    the rest pass through the remainder: the offline optimum. A prefetch that is needed later than everything it would
//    evict is refused.
//
// `matrix` may be null for 0 and 1 and is then also allowed for 2, which has only the intervals left.
std::unique_ptr<CachePolicy> make_policy(PolicyKind kind, std::shared_ptr<const TransitionMatrix> matrix = nullptr,
                                         const PolicyOptions& options = {});

}  // namespace dmprof::cachemodel
