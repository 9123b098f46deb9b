// A whole run: cards with their sources, and what came of it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "samples/simcard/card/card.h"
#include "samples/simcard/card/energy.h"
#include "samples/simcard/card/feed.h"

namespace dmprof::simcard {

struct RunOptions {
  std::uint64_t seed = 1;
  SimTime duration = kSecond;
  std::uint32_t cards = 1;
  SimTime poll = 10 * kMillisecond;  // virtual time between looks at the knobs that may change while it runs
};

struct RunResult {
  SimTime ended = 0;
  std::uint64_t events = 0;
  std::string verdict;  // "" where the run reached its end
  CardStatistics card;  // sums over the cards; `longest` is the longest
  ModuleCacheStatistics l0;
  StoreStatistics store;  // L1
  ServerStatistics engines;
  std::uint64_t l2_bytes = 0;        // moved by the end
  std::uint64_t l2_asked_bytes = 0;  // with what was under way then
  std::uint64_t in_flight = 0;
  CardEnergy energy;
  // Little's law over the whole run, requests that are still there included: the time all of them spent in the system
  // over the integral of how many were there. 1; a run where it is not ends with a verdict.
  double little() const;
};

// Who observes a card, by its index; nullptr: nobody. A card calls its own in order of virtual time;
// between two polls one card goes after the other.
using Observers = std::function<CardObserver*(std::uint32_t card)>;
// Called with the virtual time at every poll, before events of that time.
using Poll = std::function<void(SimTime now, const std::vector<std::unique_ptr<Card>>& cards)>;

RunResult run_cards(const CardParameters& parameters, const RunOptions& options, const Observers& observers,
                    const Poll& poll);

}  // namespace dmprof::simcard
