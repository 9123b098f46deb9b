#include "samples/simcard/card/run.h"

#include <algorithm>

#include <fmt/format.h>

namespace dmprof::simcard {
namespace {

void add(CardStatistics& sum, const CardStatistics& each) {
  sum.arrived += each.arrived, sum.completed += each.completed, sum.refused += each.refused;
  sum.steps += each.steps, sum.prefill_steps += each.prefill_steps, sum.accesses += each.accesses;
  sum.drafted += each.drafted, sum.accepted += each.accepted, sum.emitted += each.emitted;
  sum.decoded += each.decoded;
  sum.flops += each.flops, sum.l1_bytes += each.l1_bytes;
  sum.block_bytes += each.block_bytes, sum.decode_l2_bytes += each.decode_l2_bytes;
  sum.decode_time += each.decode_time, sum.draft_time += each.draft_time, sum.verify_time += each.verify_time;
  sum.stall_time += each.stall_time, sum.load_time += each.load_time, sum.present += each.present,
      sum.sojourn += each.sojourn, sum.unfinished += each.unfinished;
  sum.longest = std::max(sum.longest, each.longest);
}

void add(ModuleCacheStatistics& sum, const ModuleCacheStatistics& each) {
  sum.hits += each.hits, sum.misses += each.misses, sum.hit_bytes += each.hit_bytes;
  sum.filled_bytes += each.filled_bytes, sum.evicted_bytes += each.evicted_bytes;
  sum.resident_bytes += each.resident_bytes;
}

void add(StoreStatistics& sum, const StoreStatistics& each) {
  sum.hits += each.hits, sum.late += each.late, sum.misses += each.misses;
  sum.prefetches += each.prefetches, sum.prefetches_used += each.prefetches_used;
  sum.evicted_unused += each.evicted_unused, sum.dropped += each.dropped;
  sum.displaced += each.displaced;
  sum.demand_bytes += each.demand_bytes, sum.prefetch_bytes += each.prefetch_bytes;
}

void add(ServerStatistics& sum, const ServerStatistics& each) {
  sum.arrived += each.arrived, sum.completed += each.completed;
  sum.busy += each.busy, sum.waiting += each.waiting, sum.present += each.present, sum.sojourn += each.sojourn;
  sum.observed += each.observed;
}

// Events that may be pending, in all cards together and at least in each.
constexpr std::size_t kMostPending = std::size_t{1} << 22, kLeastPending = std::size_t{1} << 16;

}  // namespace

double RunResult::little() const { return card.present > 0 ? (card.sojourn + card.unfinished) / card.present : 0; }

// Cards share nothing, so each has a queue of its own and goes alone from one look at the knobs to the next: what it
// works on stays in the processor's cache, however many there are.
RunResult run_cards(const CardParameters& parameters, const RunOptions& options, const Observers& observers,
                    const Poll& poll) {
  const Language language(parameters.language, options.seed);
  const Selection selection(parameters.model.selection, options.seed);
  const Attention attention(parameters.model.attention, parameters.model.selection.noise, options.seed);
  std::vector<std::unique_ptr<Simulation>> simulations;
  std::vector<std::unique_ptr<Card>> cards;
  std::vector<std::unique_ptr<Feed>> feeds;
  const std::size_t most_pending = std::max(kMostPending / std::max(options.cards, 1u), kLeastPending);
  for (std::uint32_t i = 0; i < options.cards; ++i) {
    simulations.push_back(std::make_unique<Simulation>(most_pending));
    cards.push_back(std::make_unique<Card>(*simulations.back(), parameters, language, selection, attention,
                                           options.seed, i, observers ? observers(i) : nullptr));
    feeds.push_back(std::make_unique<Feed>(
        *simulations.back(), source_of(parameters.workload, options.seed, i, options.cards), *cards.back()));
  }
  for (const std::unique_ptr<Feed>& each : feeds) each->begin();
  RunResult result;
  const Simulation* overloaded = nullptr;
  bool going = true;
  for (SimTime now = 0; going && now < options.duration;) {
    if (poll) poll(now, cards);
    now = std::min(options.duration, now + options.poll);
    going = false;
    for (const std::unique_ptr<Simulation>& each : simulations) {
      const Ended ended = each->run(now);
      going = going || ended == Ended::time_up;
      if (ended == Ended::overloaded) overloaded = each.get();
      if (ended != Ended::overloaded && ended != Ended::stopped) continue;
      going = false;
      break;
    }
  }
  for (const std::unique_ptr<Simulation>& each : simulations) {
    result.ended = std::max(result.ended, each->now());
    result.events += each->events();
  }
  for (const std::unique_ptr<Card>& each : cards) {
    each->settle();
    add(result.card, each->statistics());
    add(result.l0, each->l0_statistics());
    add(result.store, each->store_statistics());
    add(result.engines, each->engine_statistics());
    result.l2_bytes += each->l2_moved();
    result.l2_asked_bytes += each->channel_statistics().bytes;
    result.in_flight += each->in_flight();
  }
  result.energy = energy_of(parameters, result.card, result.l0, result.store, result.l2_bytes,
                            seconds(result.ended) * options.cards);
  if (std::any_of(feeds.begin(), feeds.end(), [](const auto& each) { return each->overrun(); })) {
    result.verdict = fmt::format(
        "overload: {} requests wait at {:.3f} s of virtual time, as many as most_waiting allows, and more keep coming "
        "than the card finishes ({} arrived, {} ended); {} or add cards",
        parameters.most_waiting, seconds(result.ended), result.card.arrived, result.card.completed,
        parameters.workload.arrivals.kind == workload::Arrivals::Kind::closed_loop ? "lower the number of users"
                                                                                   : "lower the arrival rate");
  } else if (overloaded != nullptr) {
    result.verdict =
        fmt::format("overload: {} events are pending at {:.3f} s of virtual time; use fewer cards or requests",
                    overloaded->pending(), seconds(overloaded->now()));
  } else if (const double little = result.little(); result.card.present > 0 && !(little > 0.99 && little < 1.01)) {
    result.verdict = fmt::format(
        "Little's law does not hold in this run: {:.4f} instead of 1; this is a fault of the "
        "simulation, report it",
        little);
  }
  return result;
}

}  // namespace dmprof::simcard
