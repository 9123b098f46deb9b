// What the prefix cache could give, and what the engine says it gives.
#include <optional>

#include "analyzers/cache/cache.h"
#include "analyzers/registry/reported.h"
#include "analyzers/registry/view.h"
#include "dmprof/base/quantity.h"

namespace dmprof {
namespace {

// Each round sends all that went before: of the n+1 turns of the last prompt n are in the cache.
MetricValue bound(const View& view, const Scope&) {
  const std::optional<double> rounds = view.recording().environment_number("workload.rounds");
  if (!rounds || *rounds < 0)
    return unavailable(
        "how many rounds conversations have (environment workload.rounds) is not in the recording; a "
        "load generator or bench sets it");
  return scalar(*rounds / (*rounds + 1), 1);
}

MetricValue block_tokens(const View& view, const Scope& scope) {
  if (const std::optional<Knob> knob = view.recording().knob("block_size")) {
    if (const std::optional<double> tokens = plain_number(knob->value); tokens && *tokens > 0)
      return scalar(*tokens, 1);
  }
  return reported::environment_value("kv.block_tokens")(view, scope);
}

}  // namespace

void register_prefix(Catalogue& catalogue) {
  catalogue.add({.name = "reported_prefix_hit_rate",
                 .unit = "ratio",
                 .definition =
                     "prefix cache hit rate as the engine states it, averaged over decode time; what it counts "
                     "is the engine's affair (prefix_cache_hit_rate counts first computations only)",
                 .needs = "a counter 'prefix_cache_hit_rate'",
                 .events = Events::counters | Events::steps,
                 .direction = Direction::higher_is_better,
                 .by = {By::window},
                 .compute = reported::counter_mean("prefix_cache_hit_rate", "ratio")});
  catalogue.add({.name = "prefix_hit_bound",
                 .unit = "ratio",
                 .definition = "most that conversations of n rounds can find in a prefix cache when every round sends "
                               "all before it and turns are alike: n / (n + 1)",
                 .needs = "environment workload.rounds",
                 .compute = bound});
  catalogue.add({.name = "shared_prefix_tokens",
                 .unit = "tokens",
                 .definition = "tokens that prompts share at their start",
                 .needs = "environment workload.shared_prefix_tokens",
                 .compute = reported::environment_value("workload.shared_prefix_tokens")});
  catalogue.add({.name = "kv_block_tokens",
                 .unit = "tokens",
                 .definition = "tokens of a block of the KV cache: what can be reused is a multiple of it",
                 .needs = "the knob block_size or environment kv.block_tokens",
                 .compute = block_tokens});
}

}  // namespace dmprof
