// A recording of the reference engine cut into forward passes: which operations, on how many tokens, asking for which
// blocks, and how long each computed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzers/registry/recording.h"
#include "dmprof/base/error.h"

namespace dmprof::twin {

struct RecordedOperation {
  std::string name;  // without the draft's prefix
  std::vector<std::uint64_t> blocks;
  // Time computing: the kernel's less what it stood still for blocks and less looking ahead for prefetches.
  double compute = 0;
  double flops_per_byte = 0;  // 0: it reads no weights
};

struct RecordedPass {
  bool draft = false;
  std::uint64_t step = 0;
  TimeNs duration = 0;  // of its operations, stalls included
  // Looking ahead for prefetches while nothing was waited for (what happens during a wait costs nothing).
  TimeNs planning = 0;
  std::uint32_t plans = 0;
  std::vector<std::uint64_t> embedding;  // one block a token, in order
  std::vector<RecordedOperation> operations;

  std::uint32_t tokens() const { return static_cast<std::uint32_t>(embedding.size()); }
  // Tokens that got logits: the output's FLOPs a byte beside those of a product over all tokens. 0 without an output.
  std::uint32_t logit_rows() const;
  bool has_logits() const { return !operations.empty() && operations.back().name == "output"; }
};

// In order of time; a pass that had begun before the recording is left out. cannot_answer where kernels or accesses are
// missing.
Result<std::vector<RecordedPass>> cut_passes(const Recording& recording);

}  // namespace dmprof::twin
