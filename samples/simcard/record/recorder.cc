#include "samples/simcard/record/recorder.h"

#include <array>

namespace dmprof::simcard {
namespace {

constexpr std::array stage_names = {"host", "prefill", "candidate_generation", "verification", "acceptance"};

}  // namespace

Recorder::Recorder(const CardParameters& parameters, std::uint32_t cards) {
  names_.clock = session_.clock();
  for (std::size_t i = 0; i < stage_names.size(); ++i) names_.stages[i] = dmprof_name(stage_names[i]);
  names_.draft = dmprof_name("draft_job");
  names_.prediction = dmprof_name("path_prediction");
  names_.scheduling = dmprof_name("prefetch_scheduling");
  names_.layer = dmprof_name("layer");
  names_.batch = dmprof_name("batch_size");
  names_.waiting = dmprof_name("waiting");
  names_.energy = dmprof_name("energy_joules");
  const bool observed = attached() && cards <= kMostRecordedCards;
  for (std::uint32_t i = 0; observed && i < cards; ++i)
    cards_.push_back(std::make_unique<CardRecorder>(names_, i, cards, parameters.engine.engines));
  register_capacities(parameters, cards);
}

void Recorder::bench(const CardParameters& parameters, std::uint64_t seed, SimTime ended) {
  if (cards_.size() != 1 || parameters.settings.draft_billions <= 0 || parameters.settings.lookahead == 0) return;
  record_bench(parameters, seed, cards_.front()->batches(), ended, session_.clock());
}

void Recorder::register_capacities(const CardParameters& p, std::uint32_t cards) {
  // Sizes, rates and units of all cards together, as their events are.
  const auto n = static_cast<double>(cards);
  const auto bytes = [n](std::uint64_t of_one) { return static_cast<double>(of_one) * n; };
  const std::uint32_t modules = p.compute.modules * cards;
  names_.l0 = register_tier("l0", 0, false, bytes(p.memory.l0_bytes) * p.compute.modules, 0, modules);
  names_.l1 = register_tier("l1", 1, true, bytes(p.memory.l1_bytes), p.memory.l1_bandwidth * n, cards);
  names_.l2 =
      register_tier("l2", 2, false, bytes(p.memory.l2_bytes), p.memory.l2_bandwidth * n, p.memory.l2_channels * cards);
  register_compute(p.compute.peak_flops * n, modules);
  names_.engine = register_engines(p.engine.engines * cards);
}

}  // namespace dmprof::simcard
