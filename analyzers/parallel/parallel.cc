#include "analyzers/parallel/parallel.h"

#include "analyzers/registry/reported.h"

namespace dmprof {

void register_parallel(Catalogue& catalogue) {
  const Events steps = Events::steps | Events::speculation;
  const auto share = [&](const char* name, const char* slice, const char* definition) {
    catalogue.add({.name = name,
                   .unit = "ratio",
                   .definition = definition,
                   .needs = std::string("slices '") + slice + "' within steps",
                   .events = steps | Events::slices,
                   .direction = Direction::lower_is_better,
                   .by = {By::window},
                   .compute = reported::slice_share(slice)});
  };
  const auto gauge = [&](const char* name, const char* unit, const char* definition, Direction direction) {
    catalogue.add({.name = name,
                   .unit = unit,
                   .definition = definition,
                   .needs = std::string("a counter '") + name + "'",
                   .events = steps | Events::counters,
                   .direction = direction,
                   .by = {By::window},
                   .compute = reported::counter_mean(name)});
  };
  gauge("expert_imbalance", "x", "tokens of the busiest expert group / mean over groups, averaged over layers",
        Direction::lower_is_better);
  share("all_to_all_share", "all_to_all", "time of all-to-all exchanges within steps / step time");
  share("all_reduce_share", "all_reduce", "time of all-reduce within steps / step time");
  share("parameter_server_share", "parameter_server",
        "time of reads from the parameter server within steps / step time");
  share("coherence_share", "coherence", "time of cache coherence traffic within steps / step time");
  gauge("pool_utilization", "ratio", "busy share of a pool (prefill, decode)", Direction::none);
}

}  // namespace dmprof
