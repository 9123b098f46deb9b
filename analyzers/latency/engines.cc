#include "analyzers/latency/engines.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dmprof/event/describe.h"

namespace dmprof::latency {
namespace {

// When engines drafted for each request, in time order.
using DraftJobs = std::unordered_map<std::uint64_t, std::vector<TimeRange>>;

DraftJobs jobs_of(const Recording& recording) {
  std::unordered_set<NameId> names;
  for (const auto& [id, name] : recording.names) {
    if (name == "draft_job") names.insert(id);
  }
  DraftJobs jobs;
  if (names.empty()) return jobs;
  for (const Slice& slice : recording.slices) {
    if (slice.argument != 0 && names.contains(slice.name)) jobs[slice.argument].push_back({slice.start, end_of(slice)});
  }
  return jobs;
}

struct Turn {
  std::uint64_t request = 0;
  TimeNs begin = std::numeric_limits<TimeNs>::max(), end = std::numeric_limits<TimeNs>::min();
  double served = 0;  // ns
};

// A request's drafting within a step; nothing when it did not draft.
std::optional<Turn> turn_of(const DraftJobs& jobs, std::uint64_t request, TimeRange step) {
  const auto found = jobs.find(request);
  if (found == jobs.end()) return std::nullopt;
  Turn turn{.request = request};
  const std::vector<TimeRange>& all = found->second;
  auto job = std::lower_bound(all.begin(), all.end(), step.begin,
                              [](const TimeRange& each, TimeNs time) { return each.begin < time; });
  for (; job != all.end() && job->begin < step.end; ++job) {
    turn.begin = std::min(turn.begin, job->begin);
    turn.end = std::max(turn.end, job->end);
    turn.served += static_cast<double>(job->end - job->begin);
  }
  if (turn.begin > turn.end) return std::nullopt;
  return turn;
}

struct StepUse {
  double busy = 0, waiting = 0;
};

// The batch asks for its drafts at once, when the first job begins; whoever is not served from then on until its own
// draft is whole waits.
StepUse measured(const View& view, const Step& step, const DraftJobs& jobs, EngineUse& use) {
  std::vector<Turn> turns;
  TimeNs begin = std::numeric_limits<TimeNs>::max();
  for (const SpeculationStep& row : view.rows_of_step(step.step)) {
    const std::optional<Turn> turn = turn_of(jobs, row.request, {step.start, end_of(step)});
    if (row.request != 0) use.wait_of_request.emplace(row.request, 0);
    if (!turn) continue;
    turns.push_back(*turn);
    begin = std::min(begin, turn->begin);
  }
  StepUse sum;
  for (const Turn& turn : turns) {
    const double wait = std::max(0.0, static_cast<double>(turn.end - begin) - turn.served);
    sum.busy += turn.served, sum.waiting += wait;
    use.wait_of_request[turn.request] += wait;
  }
  return sum;
}

StepUse estimated(const View& view, const Step& step, std::uint32_t engines, EngineUse& use) {
  const auto drafting = static_cast<double>(step.draft_time);
  const std::uint32_t beyond = step.batch > engines ? step.batch - engines : 0;
  for (const SpeculationStep& row : view.rows_of_step(step.step)) {
    // In turns, each of the batch stands aside for its share.
    if (row.request != 0) use.wait_of_request[row.request] += beyond > 0 ? drafting * beyond / step.batch : 0;
  }
  return {drafting * std::min(step.batch, engines), drafting * beyond};
}

}  // namespace

std::uint32_t speculation_engines(const Recording& recording) {
  constexpr std::uint32_t most_engines = 1 << 16;  // of all cards; more is a damaged figure
  std::uint32_t units = 0;
  for (const auto& [id, capacity] : recording.capacities) {
    if (capacity.kind == "speculation_engine")
      units = std::min(most_engines, units + std::clamp(capacity.units, 1u, most_engines));
  }
  return units;
}

EngineUse engine_use(const View& view, const Scope& scope, std::uint32_t engines) {
  const DraftJobs& jobs = view.shared<DraftJobs>([&] { return jobs_of(view.recording()); });
  const auto own = std::max(1u, engines / static_cast<std::uint32_t>(view.units()));
  EngineUse use;
  use.measured = !jobs.empty();
  for (const Step& step : view.steps(scope)) {
    const StepUse each = use.measured ? measured(view, step, jobs, use) : estimated(view, step, own, use);
    use.busy += each.busy, use.waiting += each.waiting;
    use.busy_by_step.add(each.busy, static_cast<double>(step.duration));
    use.waiting_by_step.add(each.waiting, static_cast<double>(step.duration));
    ++use.steps;
  }
  return use;
}

}  // namespace dmprof::latency
