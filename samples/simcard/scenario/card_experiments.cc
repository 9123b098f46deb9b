#include "samples/simcard/scenario/card_experiments.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "samples/simcard/card/read.h"
#include "samples/simcard/card/run.h"

namespace dmprof::simcard {
namespace {

struct CardExperiment {
  CardParameters parameters;
  RunOptions options;

  RunResult run() const { return run_cards(parameters, options, nullptr, nullptr); }
  RunResult run(const Conduct& conduct) const {  // the one to watch
    CardObserver* const observer = conduct.witness != nullptr ? conduct.witness->card(parameters) : nullptr;
    return run_cards(
        parameters, options, [observer](std::uint32_t) { return observer; }, nullptr);
  }
};

Result<CardExperiment> read(Section settings, const Conduct& conduct) {
  CardExperiment experiment;
  experiment.options.seed = conduct.seed;
  double duration = 0.3;
  settings.quantity("duration", Quantity::duration, duration, duration);
  experiment.options.duration = from_seconds(duration);
  if (settings.has("card")) read_card(settings.section("card"), experiment.parameters);
  if (settings.ok() && experiment.options.duration <= 0) settings.complain("duration", "must be above 0; write 300ms");
  DMPROF_TRY(settings.finish());
  return experiment;
}

double count(std::uint64_t number) { return static_cast<double>(number); }
double over(double above, double below) { return below > 0 ? above / below : 0; }
double accesses(const RunResult& r) { return count(r.store.hits + r.store.late + r.store.misses); }
double hit_rate(const RunResult& r) { return over(count(r.store.hits), accesses(r)); }
// Of all that the modules asked for: L0 or L1 had it.
double held_rate(const RunResult& r) { return over(count(r.l0.hits + r.store.hits), count(r.l0.hits + r.l0.misses)); }
double rate(const RunResult& r) { return over(count(r.card.decoded), r.card.decode_time); }
double step(const RunResult& r) { return over(r.card.decode_time, count(r.card.steps)); }
double gain(double now, double before) { return 100 * over(now - before, before); }

// Mean time from asking for a block to having it, whether or not the modules had something else to do meanwhile.
double load_time(const RunResult& r) { return over(r.card.load_time, count(r.card.accesses)); }

// Against a card without an L1 to speak of, where nothing is prefetched: what its L0 does not hold comes from L2 when
// it is asked for.
Result<Figures> run_load_latency(Section settings, const Conduct& conduct) {
  const Result<CardExperiment> with = read(std::move(settings), conduct);
  if (!with) return tl::unexpected(with.error());
  CardExperiment unscheduled = *with, bare = *with, one_bus = *with;
  unscheduled.parameters.prefetch = bare.parameters.prefetch = false;
  bare.parameters.memory.l1_bytes = bare.parameters.model.block_bytes;
  one_bus.parameters.memory.l1_one_bus = true;
  const RunResult both = with->run(conduct), cache_only = unscheduled.run(), none = bare.run();
  const double ours = load_time(both), cached = load_time(cache_only), plain = load_time(none);
  return Figures{{"load_latency_cut_percent", -gain(ours, plain), "%"},
                 {"cut_without_prefetch_percent", -gain(cached, plain), "%"},
                 {"cut_on_one_bus_percent", -gain(load_time(one_bus.run()), plain), "%"},
                 {"load_us_from_l2", plain * 1e6, "us"},
                 {"load_us_with_l1", ours * 1e6, "us"},
                 {"hit_rate", held_rate(both), "ratio"},
                 {"hit_rate_without_prefetch", held_rate(cache_only), "ratio"},
                 {"hit_rate_of_l0_alone", held_rate(none), "ratio"}};
}

using Change = void (*)(CardParameters&);
constexpr std::array<std::pair<const char*, Change>, 3> playbook_fixes = {
    {{"draft_3b", [](CardParameters& p) { p.settings.draft_billions = 3; }},
     {"lookahead_8", [](CardParameters& p) { p.settings.lookahead = 8; }},
     {"policy_2", [](CardParameters& p) { p.settings.cache_policy = 2; }}}};

// The three fixes of the playbook, one at a time; and on a card as it comes, which the scenario's was chosen against.
Result<Figures> run_bandwidth_fixes(Section settings, const Conduct& conduct) {
  const Result<CardExperiment> base = read(std::move(settings), conduct);
  if (!base) return tl::unexpected(base.error());
  const RunResult before = base->run(conduct);
  Figures figures{
      {"hit_rate", hit_rate(before), "ratio"},
      {"bandwidth_utilization",
       over(count(before.card.decode_l2_bytes), before.card.decode_time * base->parameters.memory.l2_bandwidth),
       "ratio"},
      {"compute_occupancy", over(before.card.draft_time + before.card.verify_time, before.card.decode_time), "ratio"},
      {"stall_share", over(before.card.stall_time, before.card.draft_time + before.card.verify_time), "ratio"}};
  const auto fix = [&](const std::string& name, Change change) {
    CardExperiment fixed = *base;
    change(fixed.parameters);
    const RunResult after = fixed.run();
    figures.push_back({name + "_hit_rate_gain", hit_rate(after) - hit_rate(before), "ratio"});
    figures.push_back({name + "_throughput_gain_percent", gain(rate(after), rate(before)), "%"});
    figures.push_back({name + "_step_time_change_percent", gain(step(after), step(before)), "%"});
  };
  for (const auto& [name, change] : playbook_fixes) fix(name, change);
  fix("no_prefetch", [](CardParameters& p) { p.prefetch = false; });
  CardExperiment usual = *base;
  usual.parameters = {};
  const double usual_rate = rate(usual.run());
  for (const auto& [name, change] : playbook_fixes) {
    CardExperiment fixed = usual;
    change(fixed.parameters);
    figures.push_back(
        {fmt::format("default_card_{}_throughput_gain_percent", name), gain(rate(fixed.run()), usual_rate), "%"});
  }
  return figures;
}

// A closed loop of as many users as the scenario says against one user, then with each fix; and on a card with an
// engine for every user, which says how much of the jump the shortage of engines is.
Result<Figures> run_engine_contention(Section settings, const Conduct& conduct) {
  const Result<CardExperiment> base = read(std::move(settings), conduct);
  if (!base) return tl::unexpected(base.error());
  CardExperiment single = *base, turns = *base, admission = *base, ample = *base;
  single.parameters.workload.arrivals.users = 1;
  turns.parameters.settings.interleave = true;
  admission.parameters.settings.max_concurrent = base->parameters.engine.engines;
  ample.parameters.engine.engines = static_cast<std::uint32_t>(base->parameters.workload.arrivals.users);
  const RunResult alone = single.run(), enough = ample.run(), busy = base->run(conduct), in_turns = turns.run(),
                  admitted = admission.run();
  const auto queue = [](const RunResult& r) { return over(r.engines.waiting, r.engines.observed); };
  return Figures{{"step_time_over_alone", over(step(busy), step(alone)), "x"},
                 {"step_time_over_alone_with_enough_engines", over(step(enough), step(alone)), "x"},
                 {"engine_queue", queue(busy), "requests"},
                 {"engine_queue_alone", queue(alone), "requests"},
                 {"turns_step_time_change_percent", gain(step(in_turns), step(busy)), "%"},
                 {"turns_throughput_change_percent", gain(rate(in_turns), rate(busy)), "%"},
                 {"max_concurrent_step_time_change_percent", gain(step(admitted), step(busy)), "%"},
                 {"max_concurrent_throughput_change_percent", gain(rate(admitted), rate(busy)), "%"}};
}

}  // namespace

std::span<const Experiment> card_experiments() {
  static constexpr std::array all = {Experiment{"load-latency", run_load_latency},
                                     Experiment{"bandwidth-fixes", run_bandwidth_fixes},
                                     Experiment{"engine-contention", run_engine_contention}};
  return all;
}

}  // namespace dmprof::simcard
