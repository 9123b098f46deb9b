#include "samples/simcard/serve/ledger.h"

namespace dmprof::simcard {

void charge_step(const Hardware& h, const StepCost& cost, Energy& energy) {
  const double memory = cost.memory_bytes * 8 * h.memory_energy, compute = cost.flops * h.compute_energy;
  const double link = cost.link_bytes * 8 * h.link.energy_per_bit;
  energy.memory += memory;
  energy.compute += compute;
  energy.link += link;
  energy.total += memory + compute + link;
}

void charge_drafts(const Hardware& h, const DraftWork& work, Energy& energy) {
  const double copies = h.mirrored ? static_cast<double>(h.cards) : 1;
  const auto coarse = static_cast<double>(work.coarse_tokens);
  const double bytes = static_cast<double>(work.passes) * h.draft_bytes + coarse * h.coarse.bytes;
  const double parameters = (static_cast<double>(work.checked_tokens) * h.draft_bytes + coarse * h.coarse.bytes) /
                            h.draft_bytes_per_parameter;
  const double joules = copies * (bytes * 8 * h.memory_energy + 2 * parameters * h.compute_energy);
  energy.draft += joules;
  energy.total += joules;
}

void charge_link(const Hardware& h, double bytes, Energy& energy) {
  const double joules = bytes * 8 * h.link.energy_per_bit;
  energy.link += joules;
  energy.total += joules;
}

void charge_tiers(const std::vector<TierUse>& tiers, Energy& energy) {
  for (const TierUse& tier : tiers) {
    energy.tiers += tier.energy;
    energy.total += tier.energy;
  }
}

void charge_idle(const Hardware& h, double seconds, Energy& energy) {
  const double joules = static_cast<double>(h.cards) * h.idle_power * seconds;
  energy.idle += joules;
  energy.total += joules;
}

}  // namespace dmprof::simcard
