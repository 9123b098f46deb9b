// Builders of small recordings whose metrics can be worked out by hand.
#pragma once

#include <string>
#include <vector>

#include "analyzers/registry/catalogue.h"
#include "analyzers/registry/recording.h"

namespace dmprof::test {

inline constexpr TimeNs ms = 1'000'000;

// A trace that is written step after step on one track; time runs on by itself.
struct Trace {
  Recording recording;
  TimeNs now = 0;
  std::uint64_t steps = 0;

  struct StepSpec {
    TimeNs duration = 10 * ms;
    std::uint32_t drafted = 0, accepted = 0;
    TimeNs draft = 0, verify = 10 * ms, accept = 0;
    StepCut cut = StepCut::whole;
    Phase phase = Phase::decode;
    std::vector<std::uint64_t> requests = {1};
    std::uint64_t parameter_bytes = 0, kv_bytes = 0, flops = 0;
    std::uint32_t waiting = 0;
  };

  // One step of every request in `spec.requests`, all alike. Returns its id.
  std::uint64_t step(const StepSpec& spec) {
    Step step;
    step.track = 1;
    step.start = now;
    step.duration = spec.duration;
    step.step = ++steps;
    step.phase = spec.phase;
    step.batch = static_cast<std::uint32_t>(spec.requests.size());
    step.waiting = spec.waiting;
    step.target_tokens = step.batch * (spec.drafted + 1);
    step.draft_time = spec.draft;
    step.verify_time = spec.verify;
    step.accept_time = spec.accept;
    step.parameter_bytes = spec.parameter_bytes;
    step.kv_bytes = spec.kv_bytes;
    step.flops = spec.flops;
    recording.steps.push_back(step);
    now += spec.duration;
    for (const std::uint64_t request : spec.requests) {
      SpeculationStep row;
      row.track = 1;
      row.time = now;
      row.step = steps;
      row.request = request;
      row.drafted = row.verified = row.tree_depth = row.tree_nodes = spec.drafted;
      row.accepted = spec.accepted;
      row.emitted = spec.accepted + 1;
      row.draft_type = spec.drafted > 0 ? DraftType::model : DraftType::none;
      row.cut = spec.cut;
      row.draft_time = spec.draft;
      row.verify_time = spec.verify;
      if (spec.phase == Phase::decode) recording.speculation.push_back(row);
    }
    return steps;
  }

  // A step whose only purpose is to be left out.
  void warm_up() { step({}); }

  void request(std::uint64_t id, RequestPoint point, TimeNs time, std::uint64_t tokens = 0, std::uint64_t cached = 0) {
    RequestEvent event;
    event.track = 1, event.time = time, event.request = id, event.point = point, event.tokens = tokens,
    event.cached_tokens = cached;
    recording.requests.push_back(event);
  }

  TierId tier(std::string name, std::uint32_t rank, bool managed, double bandwidth, std::uint64_t size = 0) {
    const auto id = static_cast<TierId>(recording.capacities.size() + 1);
    Capacity capacity;
    capacity.name = std::move(name), capacity.kind = "tier", capacity.rank = rank, capacity.managed = managed;
    capacity.measured_bandwidth = bandwidth, capacity.size_bytes = size;
    recording.capacities[id] = capacity;
    return id;
  }

  void access(std::uint64_t block, TierId tier, AccessOutcome outcome, BlockOrigin origin, TimeNs time, TimeNs wait = 0,
              std::uint64_t step = 0, Phase phase = Phase::decode) {
    BlockAccess event;
    event.track = 1, event.time = time, event.block = block, event.tier = tier, event.outcome = outcome,
    event.origin = origin;
    event.phase = phase, event.bytes = 1000, event.wait = wait, event.step = step;
    recording.accesses.push_back(event);
  }

  Recording& done() {
    recording.make_sound();
    return recording;
  }
};

inline MetricValue value_of(const Catalogue& catalogue, const Recording& recording, const std::string& name,
                            const EvaluateOptions& options = {}) {
  const std::vector<std::string> names = {name};
  auto values = catalogue.evaluate(names, recording, options);
  if (!values) {
    MetricValue failed;
    failed.reason = "evaluate() refused: " + values.error().message;
    return failed;
  }
  return values->front();
}

}  // namespace dmprof::test
