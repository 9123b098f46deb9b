// Mixture of experts over cards: how unevenly tokens load them, by popularity, placement and replication.
#pragma once

#include <cstdint>
#include <vector>

namespace dmprof::simcard {

enum class Placement {
  in_order,  // expert i on card i x cards / experts: neighbours, popular ones too, share a card
  balanced,  // longest first onto the least loaded card, by measured popularity (pre-placement)
};

struct ExpertLoad {
  std::int64_t experts = 64, active = 2, cards = 8;
  double skew = 0;  // popularity of rank i is 1 / i^skew (Zipf)
  Placement placement = Placement::in_order;
  std::int64_t replicas = 0;  // of balanced placement: extra copies of the most popular experts; a token takes the
                              // less loaded copy (dynamic balancing)
  std::int64_t tokens = 48;   // of one step
  std::int64_t steps = 200;   // averaged over
};

struct ExpertImbalance {
  double cards = 1;    // mean over steps of max / mean tokens a card
  double experts = 1;  // the same over experts
  double bytes = 1;    // mean over steps of max / mean experts met a card: weights that it must read
  double met = 0;      // mean number of experts met in a step (copies met count)
};

// Routes every token of every step by seeded draws (distinct experts per token) and counts. Deterministic.
ExpertImbalance expert_imbalance(const ExpertLoad& load, std::uint64_t seed);

// Share of memory that an allocator of expert slots loses when experts of unequal sizes come and go: first fit over
// `slots` units, sizes 1..`largest`, seeded; measured as free units that cannot hold the largest request / all units.
double fragmentation(std::int64_t slots, std::int64_t largest, double occupancy, std::uint64_t seed);

}  // namespace dmprof::simcard
