// Storage behind the cards' memory: a CXL pool with compression, or local NVMe drives. Reads queue at `units` equal
// devices.
#pragma once

#include <cstdint>

#include "samples/simcard/node/hardware.h"

namespace dmprof::simcard {

struct Pool {
  std::int64_t units = 1;    // ports or drives
  Link link;                 // of one unit
  double compression = 1;    // logical / stored bytes
  double decompression = 0;  // B/s of logical bytes that can be unpacked per unit; 0: no limit
};

struct PoolLoad {
  double block_bytes = 1 << 20;  // logical
  double rate = 1000;            // reads per second
  std::int64_t reads = 20000;
  // Prediction: this share of reads was asked for `lead` seconds earlier; wrong predictions add useless reads.
  double accuracy = 0;
  double lead = 0;
};

struct PoolResult {
  double mean_wait = 0;  // s a demand waits for its block, 0 where the prefetch was early enough
  double on_time = 0;    // share of demands whose block was there
  double utilization = 0;
  double moved_bytes = 0;  // over the links, useless reads included
  double asked_bytes = 0;  // logical bytes demanded
};

// A predicted read counts as useful with probability `accuracy`; every demand that was not predicted is read on demand,
// and each wrong prediction is one read more. Deterministic by seed.
PoolResult simulate_pool(const Pool& pool, const PoolLoad& load, std::uint64_t seed);

// Logical B/s of the whole pool without queues: units x min(bandwidth x compression, decompression).
double pool_bandwidth(const Pool& pool);

}  // namespace dmprof::simcard
