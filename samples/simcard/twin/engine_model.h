// The reference engine in virtual time: admission, prompt chunks, drafts, verification, acceptance. It replays the
// requests of the recording it was fitted to, under other settings.
//
// What is known and what is drawn: with greedy decoding the text is the same under all settings, and whether a draft
// agrees with it at a position depends only on the text before it. So a recorded verdict holds for every lookahead. A
// position without a verdict (the token behind a fully accepted chain, a step without speculation) is drawn once a run,
// given the verdict before it. With sampling nothing is known and every chain is drawn from the curve.
#pragma once

#include <vector>

#include "dmprof/base/error.h"
#include "samples/simcard/twin/description.h"
#include "samples/simcard/twin/trace.h"

namespace dmprof::twin {

// One run. usage: a draft the description has no profile of, a budget below the largest block, a lookahead or batch of
// nonsense. Deterministic for a seed.
Result<Trace> simulate(const Description& description, const Settings& settings, std::uint64_t seed);

}  // namespace dmprof::twin
