// Which transfers brought bytes that never entered arithmetic.
#pragma once

#include <cstddef>
#include <unordered_set>

#include "analyzers/registry/recording.h"

namespace dmprof::roofline {

// Positions in `recording.transfers` of what a prefetch moved for nothing: its block was thrown out unused, or the
// prefetch was cancelled after the transfer had begun. A prefetch's transfers are those of its block into its tier
// between its `issued` and that end; without an `issued` event only the last one before the end.
std::unordered_set<std::size_t> unused_transfers(const Recording& recording);

}  // namespace dmprof::roofline
