#include "analyzers/roofline/unused.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace dmprof::roofline {
namespace {

using Key = std::pair<std::uint64_t, TierId>;  // block, destination

struct Fate {
  std::vector<TimeNs> issued, wasted;  // in time order
  std::vector<std::size_t> transfers;  // positions, in time order
};

}  // namespace

std::unordered_set<std::size_t> unused_transfers(const Recording& recording) {
  std::map<Key, Fate> fates;
  for (const Prefetch& prefetch : recording.prefetches) {
    if (prefetch.point == PrefetchPoint::evicted_unused || prefetch.point == PrefetchPoint::cancelled)
      fates[{prefetch.block, prefetch.tier}].wasted.push_back(prefetch.time);
  }
  std::unordered_set<std::size_t> unused;
  if (fates.empty()) return unused;
  for (const Prefetch& prefetch : recording.prefetches) {
    if (prefetch.point != PrefetchPoint::issued) continue;
    if (const auto fate = fates.find({prefetch.block, prefetch.tier}); fate != fates.end())
      fate->second.issued.push_back(prefetch.time);
  }
  const std::vector<Transfer>& transfers = recording.transfers;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    if (const auto fate = fates.find({transfers[i].block, transfers[i].to}); fate != fates.end())
      fate->second.transfers.push_back(i);
  }
  for (const auto& [key, fate] : fates) {
    for (const TimeNs end : fate.wasted) {
      const auto begun = std::upper_bound(fate.transfers.begin(), fate.transfers.end(), end,
                                          [&](TimeNs time, std::size_t i) { return time < transfers[i].start; });
      const auto issued = std::upper_bound(fate.issued.begin(), fate.issued.end(), end);
      if (issued == fate.issued.begin()) {
        if (begun != fate.transfers.begin()) unused.insert(*(begun - 1));
        continue;
      }
      for (auto transfer = begun; transfer != fate.transfers.begin(); --transfer) {
        if (transfers[*(transfer - 1)].start < *(issued - 1)) break;
        unused.insert(*(transfer - 1));
      }
    }
  }
  return unused;
}

}  // namespace dmprof::roofline
