// Events a second with recording off, and how the cost grows with the number of cards. items_per_second of EventCore is
// the queue alone; of Cards it is events of whole cards, each of which does a pass's share of cache and memory work.
#include <benchmark/benchmark.h>

#include "samples/simcard/card/run.h"

namespace {

using namespace dmprof::simcard;

struct Ping : Actor {
  Simulation* simulation = nullptr;
  std::uint64_t left = 0;
  void on_event(std::uint32_t kind, std::uint64_t argument) override {
    if (left > 0) --left, simulation->after(static_cast<SimTime>(argument % 977 + 1), *this, kind, argument * 7 + 1);
  }
};

void event_core(benchmark::State& state) {
  constexpr std::uint64_t events = 1'000'000;
  for (auto _ : state) {
    Simulation simulation;
    Ping ping;
    ping.simulation = &simulation;
    ping.left = events;
    for (std::int64_t i = 0; i < state.range(0); ++i) simulation.at(i, ping, 0, static_cast<std::uint64_t>(i));
    simulation.run();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(events));
}
BENCHMARK(event_core)->Name("EventCore/pending")->Arg(16)->Arg(1024)->Arg(65536)->Unit(benchmark::kMillisecond);

// One event is one entry taken off a calendar: a block that arrived, a draft token, a layer of a pass, a step's stages.
// Every card does the same amount of work however many there are, so that items_per_second stays equal where the cost
// is linear in cards.
void cards(benchmark::State& state) {
  CardParameters parameters;
  parameters.model.selection = {.layers = 36, .blocks = 8, .per_token = 2, .skew = 0.3, .noise = 0.1};
  parameters.model.block_bytes = 1 << 20;
  parameters.workload.prompts.typical = 16;
  std::uint64_t events = 0;
  const auto count = static_cast<std::uint32_t>(state.range(0));
  for (auto _ : state) {
    const RunResult result =
        run_cards(parameters, {.seed = 1, .duration = 50 * kMillisecond, .cards = count}, nullptr, nullptr);
    events += result.events;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(events));
}
BENCHMARK(cards)->Name("Cards")->Arg(1)->Arg(8)->Arg(64)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
