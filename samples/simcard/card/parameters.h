// Everything a run of the card depends on. Results follow from these by mechanism; none is a result. Sources of the
// defaults are in samples/simcard/README.md.
#pragma once

#include <cstdint>
#include <string>

#include "dmprof/base/error.h"
#include "samples/simcard/card/workload.h"
#include "samples/simcard/memory/parameters.h"
#include "samples/simcard/speculation/acceptance.h"
#include "samples/simcard/speculation/attention.h"
#include "samples/simcard/speculation/predictor.h"
#include "samples/simcard/speculation/selection.h"
#include "samples/simcard/speculation/text.h"

namespace dmprof::simcard {

struct ComputeParameters {
  std::uint32_t modules = 16;                // work in lockstep: a block is split over all of them
  double peak_flops = 165e12;                // of the card, FLOP/s
  SimTime layer_sync = 2 * kMicrosecond;     // joining the modules' (and shards') partial results, a layer
  SimTime step_host = 15 * kMicrosecond;     // launching a step, sampling's host part
  SimTime accept_token = 200 * kNanosecond;  // judging one token
};

struct EngineParameters {
  std::uint32_t engines = 4;
  SimTime layer_latency = 400 * kNanosecond;  // a draft layer's fixed cost
  double bandwidth = 0.75e12;                 // what an engine reads from L2, B/s
  double draft_layers_at_1b = 16;             // depth grows with the square root of the size: 3b has 28
  double draft_active_share = 0.1;            // of a draft's parameters that a token reads
  SimTime prediction = 300 * kNanosecond;     // looking up a token's blocks
  SimTime scheduling = 200 * kNanosecond;     // queueing their prefetches
};

struct EnergyParameters {
  double l2_pj_per_bit = 3.9;  // HBM, O'Connor et al., MICRO 2017
  double l1_pj_per_bit = 1.2;
  double l0_pj_per_bit = 0.2;
  double pj_per_flop = 0.4;
  double static_watts = 120;
};

struct ModelShape {
  std::string name = "sparse-slice";
  SelectionParameters selection;  // layers and blocks
  std::uint64_t block_bytes = 256 << 10;
  std::uint64_t dense_bytes = 4 << 20;  // of a layer, read by every pass past the cache
  std::uint64_t kv_bytes = 128;         // of a token in a layer
  AttentionParameters attention;
  double bytes_per_parameter = 0.5;
  std::uint32_t shards = 8;  // equal slices of the model; this card holds one

  std::uint64_t kv_block_bytes() const { return attention.kv_block * kv_bytes; }
  std::uint64_t parameter_bytes() const {  // of the slice
    return selection.layers * (dense_bytes + std::uint64_t{selection.blocks} * block_bytes);
  }
};

struct Settings {             // what DM_* and the driver's parameters turn
  double draft_billions = 1;  // 0: no draft
  std::uint32_t lookahead = 5;
  std::uint32_t cache_policy = 0;
  std::uint32_t max_concurrent = 0;  // 0: what fits
  bool interleave = false;
};

struct CardParameters {
  MemoryParameters memory;
  ComputeParameters compute;
  EngineParameters engine;
  EnergyParameters energy;
  ModelShape model;
  LanguageParameters language;
  AcceptanceCurve acceptance;
  PredictorParameters predictor;
  Settings settings;
  WorkloadParameters workload;
  bool prefetch = true;  // path prediction and prefetch scheduling
  std::uint32_t most_batch = 64;
  std::uint32_t most_waiting = 10'000;  // requests; beyond it the run ends with a verdict
};

// Refuses what cannot be: a card without engines, blocks larger than L1, a model larger than L2.
Status check(const CardParameters& parameters);

// What blocks may take of all modules' L0: a layer's dense weights pass through it, twice over, because the next
// layer's come while this one's are worked on.
std::uint64_t l0_for_blocks(const CardParameters& parameters);

// Time that an engine of this card needs for one token of a draft of that size, and the bytes it reads for it.
SimTime draft_token_time(const CardParameters& parameters, double billions);
std::uint64_t draft_token_bytes(const CardParameters& parameters, double billions);

}  // namespace dmprof::simcard
