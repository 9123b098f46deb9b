// Experiments that serve requests on a node: the batch table, the gain of speculation, latency before and after.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "samples/simcard/core/random.h"
#include "samples/simcard/core/server.h"
#include "samples/simcard/scenario/experiments.h"
#include "samples/simcard/scenario/run_settings.h"

namespace dmprof::simcard {
namespace {

constexpr double ms = 1e3;

// Requests that come one by one to a number of engines at a utilization: mean response over mean service. With
// exponential drafts this is M/M/c, whose closed form is Erlang C; with drafts that all take as long, as those of a
// fixed lookahead do, M/D/c: about half of the waiting.
class EngineQueue : public Actor {
 public:
  // `arrivals` and `drafts` name the streams that are drawn from.
  EngineQueue(std::uint32_t engines, double utilization, bool exponential, std::uint64_t seed, const char* arrivals,
              const char* drafts, std::uint64_t replication)
      : arrivals_(seed, arrivals, replication),
        drafts_(seed, drafts, replication),
        server_(simulation_, engines),
        gap_(1 / (utilization * engines)),
        exponential_(exponential) {
    simulation_.at(0, *this, 0);
  }
  double inflation() {
    simulation_.run();
    const ServerStatistics s = server_.statistics();
    return s.sojourn / static_cast<double>(s.completed);
  }
  void on_event(std::uint32_t kind, std::uint64_t) override {
    if (kind == 1) return;
    server_.submit({from_seconds(exponential_ ? drafts_.exponential(1) : 1), this, 1, 0});
    if (++issued_ < 400'000) simulation_.after(from_seconds(arrivals_.exponential(gap_)), *this, 0);
  }

 private:
  Simulation simulation_;
  Random arrivals_, drafts_;
  Server server_;
  double gap_;
  bool exponential_;
  int issued_ = 0;
};

struct Inflation {
  double mean = 0, error = 0;  // error: standard deviation of the mean, from independent pairs
};

// Pairs of runs that swap their random numbers: where one happens to be loaded more than intended, the other is loaded
// less (antithetic runs, Page 1965), so that their mean scatters less than that of two independent ones.
Inflation engine_queue(std::uint32_t engines, double utilization, bool exponential, int pairs, std::uint64_t seed) {
  double sum = 0, squares = 0;
  for (int pair = 0; pair < pairs; ++pair) {
    const auto run = [&](const char* arrivals, const char* drafts) {
      return EngineQueue(engines, utilization, exponential, seed, arrivals, drafts, static_cast<std::uint64_t>(pair))
          .inflation();
    };
    const double mean = (run("engine queue a", "engine queue b") + run("engine queue b", "engine queue a")) / 2;
    sum += mean;
    squares += mean * mean;
  }
  const double mean = sum / pairs, variance = std::max(0.0, squares / pairs - mean * mean);
  return {mean, pairs > 1 ? std::sqrt(variance / (pairs - 1)) : 0};
}

}  // namespace

Result<Figures> run_batch_table(Section s, const Conduct& conduct) {
  Result<RunSettings> run = read_run(s, conduct.seed);
  if (!run) return tl::unexpected(run.error());
  const std::vector<double> batches = s.quantities("batches", Quantity::number);
  for (const double batch : batches) {
    if (batch < 1 || batch > 4096) s.complain("batches", "must hold numbers from 1 to 4096");
  }
  DMPROF_TRY(s.finish());
  Figures figures;
  for (const double batch : batches) {
    const auto users = static_cast<std::int64_t>(batch);
    // The largest batch is the one to look at.
    const bool shown = batch == *std::max_element(batches.begin(), batches.end());
    const Result<ServeResult> result = (shown ? run->watched(conduct) : *run).closed_loop(users);
    if (!result) return tl::unexpected(result.error());
    RunSettings plain = *run;
    plain.spec.speculation.lookahead = 0;
    const Result<ServeResult> without = plain.closed_loop(users);
    if (!without) return tl::unexpected(without.error());
    figures.push_back({fmt::format("tokens_per_s_batch_{}", users), result->throughput, "tokens/s"});
    figures.push_back({fmt::format("p99_step_ms_batch_{}", users), result->step_time.p99 * ms, "ms"});
    figures.push_back({fmt::format("speedup_batch_{}", users), result->throughput / without->throughput, "x"});
  }
  figures.push_back(run->littles_law());
  return figures;
}

Result<Figures> run_speculation_gain(Section s, const Conduct& conduct) {
  Result<RunSettings> run = read_run(s, conduct.seed);
  if (!run) return tl::unexpected(run.error());
  DMPROF_TRY(s.finish());
  RunSettings plain = *run;
  plain.spec.speculation.lookahead = 0;
  const Result<ServeResult> with = run->watched(conduct).as_described(), without = plain.as_described();
  if (!with) return tl::unexpected(with.error());
  if (!without) return tl::unexpected(without.error());
  const auto per_token = [](const ServeResult& r) { return r.energy.total / static_cast<double>(r.tokens); };
  return Figures{
      {"throughput_ratio", with->throughput / without->throughput, "x"},
      {"power_change_percent",
       (with->energy.total / with->seconds) / (without->energy.total / without->seconds) * 100 - 100, "%"},
      {"energy_per_token_change_percent", per_token(*with) / per_token(*without) * 100 - 100, "%"},
      {"tokens_per_step",
       static_cast<double>(with->tokens) / static_cast<double>(with->steps) / static_cast<double>(run->arrivals.users),
       "tokens"},
      run->littles_law()};
}

Result<Figures> run_before_after(Section s, const Conduct& conduct) {
  Result<RunSettings> run = read_run(s, conduct.seed);
  if (!run) return tl::unexpected(run.error());
  double streamed = 0, utilization = 0;
  s.quantity("streamed_before", Quantity::ratio, streamed);
  s.quantity("queue_utilization", Quantity::ratio, utilization);
  if (s.ok() && (utilization <= 0 || utilization >= 1)) s.complain("queue_utilization", "must lie between 0 and 1");
  DMPROF_TRY(s.finish());
  RunSettings before = *run;
  before.spec.speculation.lookahead = 0;
  before.spec.parallel.streamed_weights = streamed;
  const Result<ServeResult> slow = before.as_described(), fast = run->watched(conduct).as_described();
  if (!slow) return tl::unexpected(slow.error());
  if (!fast) return tl::unexpected(fast.error());
  RunSettings local = before;
  local.spec.parallel.streamed_weights = 0;
  const Result<ServeResult> plain = local.as_described();
  if (!plain) return tl::unexpected(plain.error());
  const auto engines = static_cast<std::uint32_t>(std::max<std::int64_t>(1, run->spec.hardware.engines));
  const Inflation queue = engine_queue(engines, utilization, true, 4, conduct.seed);
  return Figures{
      {"before_step_ms", slow->step_time.mean * ms, "ms"},
      {"after_step_ms", fast->step_time.mean * ms, "ms"},
      {"before_local_step_ms", plain->step_time.mean * ms, "ms"},
      {"after_per_token_ms", fast->time_per_token.mean * ms, "ms"},
      {"speculation_alone", plain->time_per_token.mean / fast->time_per_token.mean, "x"},
      {"queueing_inflation", queue.mean, "x"},
      {"queueing_inflation_error", queue.error, "x"},
      {"queueing_inflation_equal_drafts", engine_queue(engines, utilization, false, 1, conduct.seed).mean, "x"},
      run->littles_law()};
}

}  // namespace dmprof::simcard
