// Tokens a second over the batch, from a roofline (FORMULAS.md, "speed-up at batch B"). Pure arithmetic, thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzers/plan/window.h"

namespace dmprof::plan {

struct Served {
  double parameters = 0;
  double weight_bytes = 2;        // each
  double kv_bytes_per_token = 0;  // 0: left out
  double context = 0;             // tokens of a sequence
  double draft_cost = 0;          // c: a draft token in one-token target steps of the same batch
  double host = 0;                // s a step that nothing hides
};

struct BatchRow {
  std::uint64_t batch = 0;
  std::uint32_t lookahead = 0;  // the best one; 0: no speculation
  double step = 0;              // s
  double tokens_per_s = 0;
  double speedup = 1;          // over no speculation at this batch
  bool compute_bound = false;  // of the verifying pass
};

// T(B, t) = max((weights + B x KV) / BW, 2 P B t / F) + host, S = E T(B,1) / (N c T(B,1) + T(B,N+1)). Every batch with
// the lookahead between 0 and the number of positions that gives most tokens a second.
std::vector<BatchRow> over_batches(const Served& served, const Roofline& machine, std::span<const double> acceptance,
                                   std::span<const std::uint64_t> batches);

}  // namespace dmprof::plan
