// The memory of a card: tiers, channels, and the engines that move blocks. Sizes in bytes, rates in bytes per second.
#pragma once

#include <cstdint>

#include "samples/simcard/core/time.h"

namespace dmprof::simcard {

struct MemoryParameters {
  // L0: SRAM beside each module, which holds its part of the blocks used last (module_cache.h).
  std::uint64_t l0_bytes = 8'000'000;
  SimTime l0_latency = 8 * kNanosecond;
  // L1: stacked DRAM, one store of the card, cached by block.
  std::uint64_t l1_bytes = 128'000'000;
  double l1_bandwidth = 1e12;  // in each direction
  bool l1_one_bus = false;     // fills take from what reads get
  SimTime l1_latency = 60 * kNanosecond;
  // L2: HBM3 in channels; a block is cut into pieces of `interleave` bytes on neighbouring channels.
  std::uint64_t l2_bytes = 128'000'000'000;
  double l2_bandwidth = 3e12;
  SimTime l2_latency = 600 * kNanosecond;
  std::uint32_t l2_channels = 32;
  std::uint32_t l2_banks = 16;          // of a channel
  SimTime row_miss = 30 * kNanosecond;  // precharge and activate, when a piece's row is not the open one of its bank
  std::uint64_t interleave = 64 << 10;
  // Transfers L2 -> L1 that may be under way at once. Prefetches start only while no demand waits.
  std::uint32_t prefetch_outstanding = 8;
  std::uint32_t demand_outstanding = 16;
  std::uint32_t prefetch_queue = 1 << 16;  // requests that may wait; more are dropped
};

}  // namespace dmprof::simcard
