// Belady's algorithm over a complete trace.
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dmprof/cachemodel/replay.h"

namespace dmprof::cachemodel {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

// For each access, the index of the next access to the same block.
std::vector<std::uint64_t> next_uses(std::span<const TraceAccess> trace) {
  std::vector<std::uint64_t> next(trace.size(), kNever);
  std::unordered_map<BlockId, std::uint64_t> upcoming;
  for (std::size_t i = trace.size(); i-- > 0;) {
    const auto [entry, first] = upcoming.try_emplace(trace[i].block, i);
    if (!first) {
      next[i] = entry->second;
      entry->second = i;
    }
  }
  return next;
}

}  // namespace

ReplayResult replay_optimum(std::span<const TraceAccess> trace, std::uint64_t budget_bytes) {
  struct Resident {
    std::uint64_t next_use = 0;
    std::uint64_t bytes = 0;
  };
  const std::vector<std::uint64_t> next = next_uses(trace);
  std::unordered_map<BlockId, Resident> resident;
  std::set<std::pair<std::uint64_t, BlockId>> by_next_use;
  std::uint64_t used = 0;
  ReplayResult result;
  result.exact = true;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const auto [block, bytes] = trace[i];
    if (bytes != trace[0].bytes) result.exact = false;
    const auto found = resident.find(block);
    if (found != resident.end()) {
      ++result.hits;
      result.hit_bytes += bytes;
      by_next_use.erase({found->second.next_use, block});
      found->second.next_use = next[i];
      by_next_use.insert({next[i], block});
      continue;
    }
    ++result.misses;
    result.miss_bytes += bytes;
    if (bytes > budget_bytes) {
      ++result.uncacheable;
      continue;
    }
    while (used > budget_bytes - bytes) {
      const auto farthest = std::prev(by_next_use.end());
      const auto victim = resident.find(farthest->second);
      used -= victim->second.bytes;
      resident.erase(victim);
      by_next_use.erase(farthest);
    }
    resident[block] = {next[i], bytes};
    by_next_use.insert({next[i], block});
    used += bytes;
  }
  return result;
}

}  // namespace dmprof::cachemodel
