// Small cards for tests.
#pragma once

#include "samples/simcard/card/run.h"

namespace dmprof::simcard {

// A sparse model whose blocks fit neither L1 nor L0, one user.
inline CardParameters sparse_card() {
  CardParameters p;
  p.model.selection = {.layers = 12, .blocks = 8, .per_token = 2, .skew = 0.3, .noise = 0.1};
  p.model.block_bytes = 1 << 20;
  p.memory.l1_bytes = 48 << 20;
  p.memory.l0_bytes = 1 << 20;
  p.memory.interleave = 512 << 10;
  p.memory.prefetch_outstanding = p.memory.demand_outstanding = 4;
  p.workload.prompts.typical = 32;
  p.workload.outputs.typical = 48;
  return p;
}

inline CardParameters dense_card() {
  CardParameters p = sparse_card();
  p.model.selection.blocks = 0;
  p.model.dense_bytes = 32 << 20;
  return p;
}

inline RunResult run_for(const CardParameters& parameters, double virtual_seconds, std::uint64_t seed = 1,
                         CardObserver* observer = nullptr, std::uint32_t cards = 1) {
  return run_cards(
      parameters, {.seed = seed, .duration = from_seconds(virtual_seconds), .cards = cards, .poll = 10 * kMillisecond},
      [observer](std::uint32_t card) { return card == 0 ? observer : nullptr; }, nullptr);
}

inline double hit_rate(const RunResult& r) {
  return static_cast<double>(r.store.hits) / static_cast<double>(r.store.hits + r.store.late + r.store.misses);
}

}  // namespace dmprof::simcard
