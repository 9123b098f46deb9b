// Replays recorded demand accesses in time: a cache of another policy or size, a prefetcher that looks further ahead,
// the link as measured. The directory and the policies are those that engines use (dmprof/cachemodel).
//
// The consumer's own work between accesses stays as recorded; what changes is how long it stands still. Demand goes
// before prefetches that have not begun; what has begun is not interrupted.
#pragma once

#include <cstdint>

#include "analyzers/whatif/access_trace.h"
#include "analyzers/whatif/link.h"
#include "dmprof/cachemodel/policy.h"

namespace dmprof::whatif {

// How the engine knows what to fetch ahead.
struct Prefetcher {
  enum class Kind : std::uint8_t {
    none,
    chain,     // from the block asked for, by a transition matrix over blocks, `distance` accesses ahead
    announced  // while a step drafts: the blocks of that step which the recorded prediction named
  } kind = Kind::none;
  std::uint32_t distance = 0;      // chain
  unsigned order = 1;              // chain: blocks of context
  double least_probability = 0.2;  // chain
  double plan_cost = 0;            // chain: ns that the consumer spends more on looking ahead than it was recorded to
  std::uint32_t outstanding = 1;   // most prefetches issued and not complete
  bool forgets_resident = false;   // announced: what is there when it is named is not looked at again before its use
  double useless = 0;              // announced: prefetches that nobody used / those that somebody used
};

struct CacheSetup {
  cachemodel::PolicyKind policy = cachemodel::PolicyKind::lru;
  std::uint64_t budget = 0;
  Prefetcher prefetcher;
};

struct Replayed {
  std::uint64_t hits = 0, late = 0, misses = 0;  // counted groups only, as everything here
  double draft_wait = 0, verify_wait = 0;        // ns
  double work_change = 0;  // ns of the consumer's work more than recorded: blocks that came another way
  std::uint64_t prefetches = 0;

  double hit_rate() const {
    const std::uint64_t all = hits + late + misses;
    return all == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(all);
  }
};

Replayed replay(const AccessTrace& trace, const Link& link, const CacheSetup& setup);

// Share of recorded predictions ("was this the block that was named as the next?") that a transition matrix over
// blocks of that order gives too. Near 1 for an engine that predicts so.
double chain_agreement(const View& view, TierId tier, unsigned order);

}  // namespace dmprof::whatif
