// Collective operations between cards: closed forms (FORMULAS.md) and the same operations simulated message by message
// on links with queues. Sizes in bytes, times in seconds. A single card communicates nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "samples/simcard/node/hardware.h"

namespace dmprof::simcard {

// Ring of R: 2 (R-1)/R x bytes / bandwidth + 2 hops.
double ring_all_reduce(std::int64_t ranks, double bytes, const Link& link);
// Bytes that one card sends in it.
double ring_all_reduce_bytes(std::int64_t ranks, double bytes);

// Every rank sends `bytes` in all, evenly to the R ranks (its own part stays): bytes (1 - 1/R) / bandwidth + latency;
// the rank with `imbalance` times the mean finishes last.
double all_to_all(std::int64_t ranks, double bytes, const Link& link, double imbalance = 1);

// The same, simulated. all_to_all: `received[r]` is the share of all traffic that goes to rank r (sums to 1).
double simulate_ring_all_reduce(std::int64_t ranks, double bytes, const Link& link);
double simulate_all_to_all(std::int64_t ranks, double bytes, const Link& link, const std::vector<double>& received);

// Pipeline of `stages` equal stages over `micro_batches`: share of the time that stages idle, (S-1)/(M+S-1).
double pipeline_bubble(std::int64_t stages, std::int64_t micro_batches);
// Simulated: the time for all micro batches when each spends `stage_time` in a stage and `hop` between stages.
double simulate_pipeline(std::int64_t stages, std::int64_t micro_batches, double stage_time, double hop);

}  // namespace dmprof::simcard
