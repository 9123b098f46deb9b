// What moving a block into the managed tier takes, from the transfers of a recording.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzers/registry/view.h"

namespace dmprof::whatif {

struct Link {
  // Serial: one block at a time; a transfer starts `latency` after it was asked for or when the link is free, whichever
  // is later, and takes bytes * ns_per_byte. Else transfers overlap, and each takes what some recorded one took: the
  // last of several that were asked for together is what a consumer waits for, so a mean would promise too much.
  bool serial = true;
  double latency = 0, ns_per_byte = 0;                 // serial
  std::vector<double> demand_times, prefetch_times;    // overlapping: ns, a sample in order of time; not empty
  std::uint32_t demand_slots = 1, prefetch_slots = 1;  // overlapping: most seen under way at once
  double wake_up = 0;             // ns from a block's arrival until the consumer that waits for it goes on, mean
  std::uint32_t outstanding = 0;  // most prefetches seen issued and not complete
  std::uint64_t transfers = 0;
};

// Transfers into `tier`; nothing when there are none. A transfer that ends when a prefetch of its block completes was
// that prefetch, any other a demand.
std::optional<Link> measure_link(const View& view, TierId tier);

}  // namespace dmprof::whatif
