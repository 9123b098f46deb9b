// Access traces the cache tests share; all blocks have size 1 unless said.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "dmprof/cachemodel/replay.h"

namespace dmprof::cachemodel {

using Trace = std::vector<TraceAccess>;

inline Trace cyclic_scan(std::uint64_t blocks, std::uint64_t rounds) {
  Trace trace;
  for (std::uint64_t i = 0; i < blocks * rounds; ++i) trace.push_back({i % blocks, 1});
  return trace;
}

// Blocks of skewed popularity: block i is about (i + 1) times rarer than block 0.
inline Trace skewed(std::uint64_t blocks, std::size_t accesses, std::uint32_t seed) {
  std::vector<double> weights;
  for (std::uint64_t i = 0; i < blocks; ++i) weights.push_back(1.0 / static_cast<double>(i + 1));
  std::discrete_distribution<std::uint64_t> pick(weights.begin(), weights.end());
  std::mt19937 random(seed);
  Trace trace;
  for (std::size_t i = 0; i < accesses; ++i) trace.push_back({pick(random), 1});
  return trace;
}

// What speculation does to dense weights: `drafts` passes over the draft's blocks, then one over the target's.
inline Trace speculation(std::uint64_t draft_blocks, std::uint64_t drafts, std::uint64_t target_blocks,
                         std::uint64_t steps) {
  Trace trace;
  for (std::uint64_t step = 0; step < steps; ++step) {
    for (std::uint64_t i = 0; i < draft_blocks * drafts; ++i) trace.push_back({i % draft_blocks, 1});
    for (std::uint64_t i = 0; i < target_blocks; ++i) trace.push_back({draft_blocks + i, 1});
  }
  return trace;
}

}  // namespace dmprof::cachemodel
