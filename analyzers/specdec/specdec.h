// Metrics of speculation: how much of what is drafted is accepted, what it costs, what it gains. METRICS.md,
// "speculation".
#pragma once

#include "analyzers/registry/catalogue.h"

namespace dmprof {

void register_specdec(Catalogue& catalogue);

// Its groups, each in a file of its own.
void register_acceptance(Catalogue& catalogue);             // accepted tokens against drafts and steps
void register_acceptance_breakdowns(Catalogue& catalogue);  // by length, class, draft type, uptime
void register_draft_positions(Catalogue& catalogue);        // which positions and settings are worth their cost
void register_speculation_costs(Catalogue& catalogue);      // c, v(n), speed-up, break-even, best lookahead

}  // namespace dmprof
