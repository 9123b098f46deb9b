#include "samples/simcard/cli/summary.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "samples/simcard/knobs/knobs.h"

namespace dmprof::simcard {
namespace {

using nlohmann::ordered_json;

ordered_json quotient(double above, double below) {
  return below > 0 ? ordered_json(above / below) : ordered_json(nullptr);
}

double count(std::uint64_t number) { return static_cast<double>(number); }

double accesses(const RunResult& r) { return count(r.store.hits + r.store.late + r.store.misses); }

std::string shown(double above, double below, const char* unit, double scale = 1) {
  return below > 0 ? fmt::format("{:.4g}{}", above / below * scale, unit) : "-";
}

}  // namespace

std::string summary_json(const RunDescription& d, const RunResult& r) {
  const Settings& s = d.parameters.settings;
  const double steps = count(r.card.steps), time = seconds(r.ended);
  ordered_json json;
  json["scenario"] = d.scenario;
  json["seed"] = d.options.seed;
  json["cards"] = d.options.cards;
  json["virtual_seconds"] = time;
  json["events"] = r.events;
  json["verdict"] = r.verdict;
  json["settings"] = {{"draft", draft_name(s.draft_billions)},
                      {"lookahead", s.lookahead},
                      {"cache_policy", s.cache_policy},
                      {"max_concurrent", s.max_concurrent}};
  json["requests"] = {{"arrived", r.card.arrived},
                      {"completed", r.card.completed},
                      {"refused", r.card.refused},
                      {"in_flight", r.in_flight},
                      {"mean_latency_s", quotient(r.card.sojourn, count(r.card.completed))},
                      {"longest_s", r.card.completed > 0 ? ordered_json(r.card.longest) : ordered_json(nullptr)}};
  json["littles_law"] = {
      {"mean_present", quotient(r.card.present, time)},  // of all cards, by integral over time
      {"residence_over_present", r.card.present > 0 ? ordered_json(r.little()) : ordered_json(nullptr)}};
  json["steps"] = r.card.steps;
  json["throughput_tokens_per_s"] = quotient(count(r.card.emitted), time);
  json["decode_tokens_per_s"] = quotient(count(r.card.decoded), r.card.decode_time);  // idle time left out
  json["tokens_per_step"] = quotient(count(r.card.decoded), steps);
  json["speculation_accuracy"] = quotient(count(r.card.accepted), count(r.card.drafted));
  json["step_time_s"] = quotient(r.card.decode_time, steps);
  json["draft_time_s"] = quotient(r.card.draft_time, steps);
  json["verify_time_s"] = quotient(r.card.verify_time, steps);
  json["stall_time_s"] = quotient(r.card.stall_time, steps);
  json["prefetch_hit_rate"] = quotient(count(r.store.hits), accesses(r));
  json["late_rate"] = quotient(count(r.store.late), accesses(r));
  json["l0_hit_rate"] = quotient(count(r.l0.hits), count(r.l0.hits + r.l0.misses));
  json["prefetches"] = {{"issued", r.store.prefetches},
                        {"used", r.store.prefetches_used},
                        {"evicted_unused", r.store.evicted_unused},
                        {"dropped", r.store.dropped},
                        {"displaced", r.store.displaced}};
  json["drafted"] = r.card.drafted;
  json["accepted"] = r.card.accepted;
  json["accesses"] = r.store.hits + r.store.late + r.store.misses;
  json["hits"] = r.store.hits;
  json["l2_bytes"] = r.l2_bytes;
  json["l2_asked_bytes"] = r.l2_asked_bytes;
  json["l2_utilization"] = quotient(count(r.l2_bytes), time * d.parameters.memory.l2_bandwidth * d.options.cards);
  json["engine_queue"] = quotient(r.engines.waiting, r.engines.observed);
  json["engine_occupancy"] = quotient(r.engines.busy, r.engines.observed * d.parameters.engine.engines);
  json["energy_j"] = {{"total", r.energy.total()}, {"l2", r.energy.l2},           {"l1", r.energy.l1},
                      {"l0", r.energy.l0},         {"compute", r.energy.compute}, {"static", r.energy.idle}};
  json["energy_per_token_j"] = quotient(r.energy.total(), count(r.card.emitted));
  json["average_power_w"] = quotient(r.energy.total(), time);
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string summary_text(const RunDescription& d, const RunResult& r) {
  const Settings& s = d.parameters.settings;
  const double steps = count(r.card.steps), time = seconds(r.ended);
  std::string text = fmt::format("{}: {}\n", d.scenario, d.title);
  text +=
      fmt::format("  draft {}, lookahead {}, cache policy {}, max concurrent {}; {} card{}, {:.4g} s of virtual time\n",
                  draft_name(s.draft_billions), s.lookahead, s.cache_policy,
                  s.max_concurrent == 0 ? "what fits" : std::to_string(s.max_concurrent), d.options.cards,
                  d.options.cards == 1 ? "" : "s", time);
  text += fmt::format("  requests     {} arrived, {} ended, mean latency {}\n", r.card.arrived, r.card.completed,
                      shown(r.card.sojourn, count(r.card.completed), " ms", 1e3));
  text += fmt::format("  throughput   {}, {} a step, {} of the drafts accepted\n",
                      shown(count(r.card.emitted), time, " tokens/s"), shown(count(r.card.decoded), steps, " tokens"),
                      shown(count(r.card.accepted), count(r.card.drafted), " %", 100));
  text += fmt::format("  step         {}: draft {}, verify {}, of that waiting for blocks {}\n",
                      shown(r.card.decode_time, steps, " us", 1e6), shown(r.card.draft_time, steps, " us", 1e6),
                      shown(r.card.verify_time, steps, " us", 1e6), shown(r.card.stall_time, steps, " us", 1e6));
  text += fmt::format("  blocks       {} in L0, of the others {} hit, {} late, L2 used to {}\n",
                      shown(count(r.l0.hits), count(r.l0.hits + r.l0.misses), " %", 100),
                      shown(count(r.store.hits), accesses(r), " %", 100),
                      shown(count(r.store.late), accesses(r), " %", 100),
                      shown(count(r.l2_bytes), time * d.parameters.memory.l2_bandwidth * d.options.cards, " %", 100));
  text += fmt::format("  energy       {} a token, {} on average\n",
                      shown(r.energy.total(), count(r.card.emitted), " mJ", 1e3), shown(r.energy.total(), time, " W"));
  return text;
}

}  // namespace dmprof::simcard
