// Prefill and decode on the same node against nodes of their own.
#include <algorithm>

#include "samples/simcard/scenario/experiments.h"
#include "samples/simcard/scenario/run_settings.h"

namespace dmprof::simcard {

// Two equal nodes that do both serve half of the users each; the split pair serves all of them on one decode node
// behind one prefill node. So both sides have two nodes.
Result<Figures> run_split(Section s, const Conduct& conduct) {
  Result<RunSettings> run = read_run(s, conduct.seed);
  if (!run) return tl::unexpected(run.error());
  const Result<Hardware> prefill = read_hardware(s, "prefill_hardware");
  if (!prefill) return tl::unexpected(prefill.error());
  const Result<Hardware> decode = read_hardware(s, "decode_hardware");
  if (!decode) return tl::unexpected(decode.error());
  DMPROF_TRY(s.finish());
  const std::int64_t users = run->arrivals.users;
  RunSettings together = *run;
  together.spec.prefill = Prefill::together;
  together.spec.requests = std::max<std::int64_t>(1, run->spec.requests / 2);
  RunSettings apart = *run;
  apart.spec.prefill = Prefill::apart;
  apart.spec.hardware = *decode;
  apart.spec.prefill_hardware = *prefill;
  const Result<ServeResult> one = together.closed_loop(std::max<std::int64_t>(1, users / 2)),
                            pair = apart.watched(conduct).closed_loop(users);
  if (!one) return tl::unexpected(one.error());
  if (!pair) return tl::unexpected(pair.error());
  const auto per_token = [](const ServeResult& r) { return r.energy.total / static_cast<double>(r.tokens); };
  return Figures{{"throughput_ratio", pair->throughput / (2 * one->throughput), "x"},
                 {"energy_per_token_change_percent", 100 * per_token(*pair) / per_token(*one) - 100, "%"},
                 {"p99_gap_ratio", one->token_gap.p99 / pair->token_gap.p99, "x"},
                 {"p99_gap_together_ms", one->token_gap.p99 * 1e3, "ms"},
                 {"p99_gap_apart_ms", pair->token_gap.p99 * 1e3, "ms"},
                 {"first_token_p99_ratio", one->first_token.p99 / pair->first_token.p99, "x"},
                 run->littles_law()};
}

}  // namespace dmprof::simcard
