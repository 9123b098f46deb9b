#include "samples/simcard/record/recorder.h"

#include <string>

#include "dmprof/base/version.h"

namespace dmprof::simcard {
namespace {

constexpr std::array stage_names = {"host", "prefill", "candidate_generation", "verification", "acceptance"};

std::uint32_t publish() {
  const std::string version(dmprof::version);
  const dmprof_options options{.engine = "dm-simcard", .version = version.c_str(), .flags = DMPROF_LOSSLESS};
  dmprof_init(&options);  // without a control page the card runs all the same, unobserved
  return dmprof_clock_register("card", DMPROF_CLOCK_VIRTUAL);
}

}  // namespace

Recorder::Recorder(const CardParameters& parameters, std::uint32_t cards) {
  names_.clock = publish();
  for (std::size_t i = 0; i < stage_names.size(); ++i) names_.stages[i] = dmprof_name(stage_names[i]);
  names_.draft = dmprof_name("draft_job");
  names_.prediction = dmprof_name("path_prediction");
  names_.scheduling = dmprof_name("prefetch_scheduling");
  names_.layer = dmprof_name("layer");
  names_.batch = dmprof_name("batch_size");
  names_.waiting = dmprof_name("waiting");
  const bool observed = attached() && cards <= kMostRecordedCards;
  for (std::uint32_t i = 0; observed && i < cards; ++i)
    cards_.push_back(std::make_unique<CardRecorder>(names_, i, cards, parameters.engine.engines));
  register_capacities(parameters, cards);
}

Recorder::~Recorder() {
  cards_.clear();
  dmprof_shutdown();
}

void Recorder::register_capacities(const CardParameters& p, std::uint32_t cards) {
  const auto tier = [](const char* name, std::uint32_t rank, bool managed, std::uint64_t size, double bandwidth,
                       std::uint32_t units) {
    dmprof_capacity_info info{};
    info.name = name;
    info.kind = "tier";
    info.rank = rank;
    info.managed = managed ? 1 : 0;
    info.size_bytes = size;
    info.datasheet_bandwidth = bandwidth;
    info.measured_bandwidth = bandwidth;  // by construction
    info.units = units;
    return dmprof_capacity(&info);
  };
  // Sizes, rates and units of all cards together, as their events are.
  const auto n = static_cast<double>(cards);
  names_.l0 = tier("l0", 0, false, p.memory.l0_bytes * p.compute.modules * cards, 0, p.compute.modules * cards);
  names_.l1 = tier("l1", 1, true, p.memory.l1_bytes * cards, p.memory.l1_bandwidth * n, cards);
  names_.l2 = tier("l2", 2, false, p.memory.l2_bytes * cards, p.memory.l2_bandwidth * n, p.memory.l2_channels * cards);
  dmprof_capacity_info compute{};
  compute.name = "compute";
  compute.kind = "compute";
  compute.peak_flops = p.compute.peak_flops * n;
  compute.units = p.compute.modules * cards;
  dmprof_capacity(&compute);
  dmprof_capacity_info engines{};
  engines.name = "speculation_engines";
  engines.kind = "speculation_engine";
  engines.units = p.engine.engines * cards;
  names_.engine = dmprof_capacity(&engines);
}

}  // namespace dmprof::simcard
