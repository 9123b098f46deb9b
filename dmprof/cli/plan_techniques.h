// dmprof plan kv-techniques: the seven techniques of analyzers/plan/techniques.h with their assumptions as flags.
#pragma once

#include <cstdint>

#include "analyzers/plan/techniques.h"
#include "dmprof/base/error.h"
#include "dmprof/cli/plan_sheet.h"
#include "dmprof/cli/syntax.h"

namespace dmprof::cli {

struct TechniqueFlags {
  plan::Techniques assumed;
  std::uint32_t recent_blocks = 2048, block_tokens = 16, sharing = 8, delta_every = 8, delta_bits = 12;
};

void declare_techniques(const Syntax& app, TechniqueFlags& flags);

// Error (usage): a share outside 0 to 1. `memory`: bytes for the caches.
Result<Sheet> technique_sheet(const plan::KvShape& shape, double context, double memory, const TechniqueFlags& flags);

}  // namespace dmprof::cli
