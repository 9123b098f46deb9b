#include "samples/simcard/fit/figures.h"

#include <algorithm>

#include "analyzers/cache/cache.h"
#include "analyzers/latency/latency.h"
#include "analyzers/registry/catalogue.h"
#include "analyzers/specdec/specdec.h"

namespace dmprof::twin {
namespace {

constexpr TrackId kEngine = 1;
constexpr TierId kResident = 1, kBacking = 2;

Catalogue make_catalogue() {
  Catalogue catalogue;
  register_latency(catalogue);
  register_cache(catalogue);
  register_specdec(catalogue);
  return catalogue;
}

void add_tables(Recording& recording) {
  Process process;
  process.name = "twin";
  recording.processes[1] = process;
  ClockDomain clock;
  clock.name = "twin";
  clock.kind = ClockKind::virtual_time;
  recording.clocks[1] = clock;
  Track track;
  track.process = track.clock = 1;
  track.name = "engine";
  recording.tracks[kEngine] = track;
  Capacity resident;
  resident.process = 1;
  resident.name = "resident";
  resident.kind = "tier";
  resident.managed = true;
  recording.capacities[kResident] = resident;
  Capacity backing = resident;
  backing.name = "backing";
  backing.rank = 1;
  backing.managed = false;
  recording.capacities[kBacking] = backing;
}

void add_steps(const Trace& trace, Recording& recording) {
  for (const StepRecord& from : trace.steps) {
    Step to;
    to.track = kEngine;
    to.start = from.start;
    to.duration = from.duration;
    to.step = from.step;
    to.phase = from.prefill ? Phase::prefill : Phase::decode;
    to.batch = from.batch;
    to.waiting = from.waiting;
    to.target_tokens = from.target_tokens;
    to.draft_time = from.draft_time;
    to.verify_time = from.verify_time;
    to.accept_time = from.accept_time;
    recording.steps.push_back(to);
  }
  for (const RowRecord& from : trace.rows) {
    SpeculationStep to;
    to.track = kEngine;
    to.time = from.time;
    to.step = from.step;
    to.request = from.request;
    to.position = from.position;
    to.drafted = to.verified = to.tree_depth = to.tree_nodes = from.drafted;
    to.accepted = from.accepted;
    to.emitted = from.emitted;
    to.draft_type = from.drafted > 0 ? DraftType::model : DraftType::none;
    to.cut = static_cast<StepCut>(from.cut);
    recording.speculation.push_back(to);
  }
}

void add_requests(const Trace& trace, Recording& recording) {
  const auto point = [&](std::uint64_t request, RequestPoint what, Time time, std::uint64_t tokens) {
    RequestEvent event;
    event.track = kEngine;
    event.time = time;
    event.request = request;
    event.point = what;
    event.tokens = tokens;
    if (time >= 0) recording.requests.push_back(event);
  };
  for (std::size_t i = 0; i < trace.requests.size(); ++i) {
    const RequestRecord& request = trace.requests[i];
    point(i + 1, RequestPoint::arrive, request.arrival, request.prompt_tokens);
    point(i + 1, RequestPoint::schedule, request.scheduled, 0);
    point(i + 1, RequestPoint::first_token, request.first_token, 0);
    point(i + 1, RequestPoint::end, request.end, request.output_tokens);
  }
}

}  // namespace

const std::vector<FigureInfo>& figure_list() {
  static const std::vector<FigureInfo> list = {
      {"throughput", "throughput", "", "tokens/s"},
      {"acceptance_length", "acceptance_length", "", "tokens/step"},
      {"prefetch_hit_rate", "prefetch_hit_rate", "", "ratio"},
      {"step_time_mean", "step_time", "", "ns"},
      {"step_time_p50", "step_time", "p50", "ns"},
      {"step_time_p95", "step_time", "p95", "ns"},
      {"step_time_p99", "step_time", "p99", "ns"},
      {"itl_p95", "itl", "p95", "ns"},
      {"itl_p99", "itl", "p99", "ns"},
  };
  return list;
}

Figures figures_of(const Recording& recording) {
  static const Catalogue catalogue = make_catalogue();
  std::vector<std::string> names;
  for (const FigureInfo& info : figure_list()) {
    if (names.empty() || names.back() != info.metric) names.push_back(info.metric);
  }
  Figures figures;
  const auto values = catalogue.evaluate(names, recording);
  if (!values) return figures;
  for (const FigureInfo& info : figure_list()) {
    const auto value =
        std::find_if(values->begin(), values->end(), [&](const MetricValue& v) { return v.name == info.metric; });
    if (value == values->end() || !value->ok() || !value->value) continue;
    if (info.part.empty()) {
      figures[info.name] = *value->value;
    } else if (value->spread) {
      figures[info.name] = info.part == "p50"   ? value->spread->p50
                           : info.part == "p95" ? value->spread->p95
                                                : value->spread->p99;
    }
  }
  return figures;
}

Recording to_recording(const Trace& trace) {
  Recording recording;
  add_tables(recording);
  add_steps(trace, recording);
  add_requests(trace, recording);
  for (const AccessRecord& from : trace.accesses) {
    BlockAccess to;
    to.track = kEngine;
    to.time = from.time;
    to.block = from.block;
    to.tier = kResident;
    to.outcome = static_cast<AccessOutcome>(from.outcome);
    to.origin = static_cast<BlockOrigin>(from.origin);
    to.prediction = from.predicted ? Prediction::right : Prediction::wrong;
    to.phase = from.prefill ? Phase::prefill : Phase::decode;
    to.bytes = static_cast<std::uint32_t>(from.bytes);
    to.wait = from.wait;
    to.step = from.step;
    recording.accesses.push_back(to);
  }
  recording.make_sound();
  return recording;
}

}  // namespace dmprof::twin
