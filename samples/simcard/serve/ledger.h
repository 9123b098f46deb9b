// Joules by part. The total is kept apart, per step, so that "energy is the sum of its parts" can be checked.
#pragma once

#include <vector>

#include "samples/simcard/node/storage.h"
#include "samples/simcard/serve/drafting.h"
#include "samples/simcard/serve/step.h"

namespace dmprof::simcard {

struct Energy {
  double idle = 0, memory = 0, compute = 0, link = 0, tiers = 0, draft = 0;  // J
  double total = 0;
  double parts() const { return idle + memory + compute + link + tiers + draft; }
};

// Adds what a step moved and computed.
void charge_step(const Hardware& hardware, const StepCost& cost, Energy& energy);
// Adds drafting: a pass reads the draft once, however many tokens it looks at. Mirrored engines all do the same work.
void charge_drafts(const Hardware& hardware, const DraftWork& work, Energy& energy);
void charge_link(const Hardware& hardware, double bytes, Energy& energy);
void charge_tiers(const std::vector<TierUse>& tiers, Energy& energy);
void charge_idle(const Hardware& hardware, double seconds, Energy& energy);

}  // namespace dmprof::simcard
