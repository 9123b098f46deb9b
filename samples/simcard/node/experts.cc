#include "samples/simcard/node/experts.h"

#include <algorithm>
#include <numeric>

#include "samples/simcard/core/random.h"

namespace dmprof::simcard {
namespace {

// Cards that hold each expert, the home first. Every card has equally many slots: its memory is what limits it.
std::vector<std::vector<std::size_t>> placed(const ExpertLoad& load, const std::vector<double>& popularity,
                                             const std::vector<std::size_t>& by_popularity) {
  const auto cards = static_cast<std::size_t>(load.cards);
  std::vector<std::vector<std::size_t>> homes(popularity.size());
  const bool balanced = load.placement == Placement::balanced;
  const std::size_t copies =
      balanced ? std::min<std::size_t>(static_cast<std::size_t>(load.replicas), popularity.size()) : 0;
  const std::size_t slots = (popularity.size() + copies + cards - 1) / cards;
  std::vector<double> weight(cards, 0);
  std::vector<std::size_t> held(cards, 0);
  const auto lightest = [&] {
    std::size_t best = cards;
    for (std::size_t card = 0; card < cards; ++card) {
      if (held[card] < slots && (best == cards || weight[card] < weight[best])) best = card;
    }
    return best;
  };
  // A copied expert counts with half its popularity where it stands.
  const auto put = [&](std::size_t expert, std::size_t card, double share) {
    homes[expert].push_back(card);
    weight[card] += share * popularity[expert];
    ++held[card];
  };
  for (std::size_t rank = 0; rank < by_popularity.size(); ++rank) {
    const std::size_t expert = by_popularity[rank];
    put(expert, balanced ? lightest() : expert * cards / popularity.size(), rank < copies ? 0.5 : 1);
    if (rank < copies) {
      const std::size_t other = lightest();
      if (other != homes[expert].front()) put(expert, other, 0.5);
    }
  }
  return homes;
}

double peak_over_mean(const std::vector<double>& counts) {
  const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
  return *std::max_element(counts.begin(), counts.end()) * static_cast<double>(counts.size()) / sum;
}

}  // namespace

ExpertImbalance expert_imbalance(const ExpertLoad& load, std::uint64_t seed) {
  const auto experts = static_cast<std::size_t>(load.experts);
  const std::vector<double> popularity = zipf_weights(experts, load.skew);
  std::vector<std::size_t> by_popularity(experts);
  std::iota(by_popularity.begin(), by_popularity.end(), 0);  // zipf weights fall with the index
  const auto homes = placed(load, popularity, by_popularity);
  const Discrete choose(popularity);
  Random random(seed, "expert routing");
  ExpertImbalance sum{0, 0, 0, 0};
  std::vector<std::size_t> mine;
  for (std::int64_t step = 0; step < load.steps; ++step) {
    std::vector<double> on_card(static_cast<std::size_t>(load.cards), 0), on_expert(experts, 0), met(on_card.size(), 0);
    std::vector<bool> here(experts * on_card.size(), false);
    for (std::int64_t token = 0; token < load.tokens; ++token) {
      mine.clear();
      while (mine.size() < static_cast<std::size_t>(load.active)) {
        const std::size_t expert = choose.draw(random);
        if (std::find(mine.begin(), mine.end(), expert) != mine.end()) continue;
        mine.push_back(expert);
        const auto least = std::min_element(homes[expert].begin(), homes[expert].end(),
                                            [&](std::size_t a, std::size_t b) { return on_card[a] < on_card[b]; });
        ++on_card[*least];
        if (!here[expert * on_card.size() + *least]) {
          here[expert * on_card.size() + *least] = true;
          ++met[*least];
          ++sum.met;
        }
        ++on_expert[expert];
      }
    }
    sum.cards += peak_over_mean(on_card);
    sum.experts += peak_over_mean(on_expert);
    sum.bytes += peak_over_mean(met);
  }
  const auto steps = static_cast<double>(load.steps);
  return {sum.cards / steps, sum.experts / steps, sum.bytes / steps, sum.met / steps};
}

double fragmentation(std::int64_t slots, std::int64_t largest, double occupancy, std::uint64_t seed) {
  struct Held {
    std::size_t at, size;
  };
  std::vector<bool> used(static_cast<std::size_t>(slots), false);
  std::vector<Held> held;
  std::size_t taken = 0;
  Random random(seed, "fragmentation");
  const auto fits = [&](std::size_t at, std::size_t size) {
    if (at + size > used.size()) return false;
    for (std::size_t i = at; i < at + size; ++i) {
      if (used[i]) return false;
    }
    return true;
  };
  const auto fill = [&](const Held& block, bool value) {
    for (std::size_t i = block.at; i < block.at + block.size; ++i) used[i] = value;
  };
  double lost = 0;
  std::int64_t samples = 0;
  for (std::int64_t turn = 0; turn < 20 * slots; ++turn) {
    const std::size_t size = 1 + random.below(static_cast<std::uint64_t>(largest));
    while (!held.empty() && static_cast<double>(taken + size) > occupancy * static_cast<double>(slots)) {
      const std::size_t victim = random.below(held.size());
      fill(held[victim], false);
      taken -= held[victim].size;
      held[victim] = held.back();
      held.pop_back();
    }
    for (std::size_t at = 0; at + size <= used.size(); ++at) {
      if (!fits(at, size)) continue;
      held.push_back({at, size});
      fill(held.back(), true);
      taken += size;
      break;
    }
    if (turn < 10 * slots || turn % 16 != 0) continue;
    std::size_t unusable = 0, gap = 0;
    for (std::size_t i = 0; i <= used.size(); ++i) {
      if (i < used.size() && !used[i]) {
        ++gap;
        continue;
      }
      if (gap < static_cast<std::size_t>(largest)) unusable += gap;
      gap = 0;
    }
    lost += static_cast<double>(unusable) / static_cast<double>(slots);
    ++samples;
  }
  return samples > 0 ? lost / static_cast<double>(samples) : 0;
}

}  // namespace dmprof::simcard
