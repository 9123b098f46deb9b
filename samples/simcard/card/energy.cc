#include "samples/simcard/card/energy.h"

namespace dmprof::simcard {

CardEnergy energy_of(const CardParameters& p, const CardStatistics& card, const ModuleCacheStatistics& l0,
                     const StoreStatistics& l1, std::uint64_t l2_bytes, double card_seconds) {
  const auto joules = [](std::uint64_t bytes, double pj_per_bit) {
    return static_cast<double>(bytes) * 8 * pj_per_bit * 1e-12;
  };
  CardEnergy energy;
  energy.l2 = joules(l2_bytes, p.energy.l2_pj_per_bit);
  // What is filled into L1 is written once; what hits is read.
  energy.l1 = joules(card.l1_bytes + l1.demand_bytes + l1.prefetch_bytes, p.energy.l1_pj_per_bit);
  energy.l0 = joules(card.block_bytes + l0.filled_bytes, p.energy.l0_pj_per_bit);
  energy.compute = static_cast<double>(card.flops) * p.energy.pj_per_flop * 1e-12;
  energy.idle = p.energy.static_watts * card_seconds;
  return energy;
}

}  // namespace dmprof::simcard
