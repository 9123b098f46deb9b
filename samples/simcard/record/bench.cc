#include "samples/simcard/record/bench.h"

#include <algorithm>
#include <vector>

#include "dmprof/sdk/dmprof.h"
#include "samples/simcard/card/run.h"
#include "samples/simcard/record/session.h"

namespace dmprof::simcard {
namespace {

constexpr std::size_t kMostSizes = 16, kStepsOfSize = 6;
constexpr std::uint32_t kTokens = 12;  // of each request: more than the steps that are kept
constexpr SimTime kShortestBench = 4 * kMillisecond, kLongestBench = 512 * kMillisecond;  // of a batch size
constexpr std::uint64_t kBenchSteps = std::uint64_t{1} << 62;                             // ids from here on

// Keeps the steps of a whole batch; the first one meets a cold cache and is left out.
class Kept : public CardObserver {
 public:
  explicit Kept(std::uint32_t batch) : batch_(batch) {}
  std::vector<StepReport> steps;

  void on_step(const StepReport& step) override {
    if (step.prefill || step.batch != batch_) return;
    if (warm_ && steps.size() < kStepsOfSize) steps.push_back(step);
    warm_ = true;
  }
  void on_request(RequestMoment, std::uint64_t, SimTime, std::uint64_t) override {}
  void on_stage(Stage, SimTime, SimTime, std::uint64_t) override {}
  void on_engine(std::uint32_t, SimTime, SimTime, std::uint64_t) override {}
  void on_prediction(SimTime, SimTime, SimTime, std::uint64_t) override {}
  void on_speculation(const SpeculationReport&) override {}
  void on_access(const AccessReport&) override {}
  void on_layer(const LayerReport&) override {}
  void on_prefetch(const PrefetchNotice&, SimTime, std::uint64_t) override {}
  void on_block_transfer(const BlockTransfer&) override {}
  void on_stream(StreamKind, std::uint64_t, SimTime, SimTime) override {}
  void on_energy(SimTime, double) override {}
  void on_queue(SimTime, std::uint64_t, std::uint64_t) override {}

 private:
  std::uint32_t batch_;
  bool warm_ = false;
};

std::vector<StepReport> bench(CardParameters parameters, std::uint64_t seed, std::uint32_t batch) {
  parameters.settings.draft_billions = 0;
  parameters.settings.max_concurrent = batch;
  parameters.workload.trace = nullptr;
  parameters.workload.arrivals = {.kind = workload::Arrivals::Kind::closed_loop, .rate = 0, .users = batch};
  parameters.workload.outputs = {.typical = kTokens};
  for (SimTime duration = kShortestBench;; duration *= 2) {
    Kept kept(batch);
    run_cards(
        parameters, {.seed = seed, .duration = duration}, [&kept](std::uint32_t) { return &kept; }, nullptr);
    if (kept.steps.size() == kStepsOfSize || duration >= kLongestBench) return kept.steps;
  }
}

}  // namespace

void record_bench(const CardParameters& parameters, std::uint64_t seed, const BatchCounts& batches, SimTime ended,
                  std::uint32_t clock) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> usual;
  for (const auto& [batch, steps] : batches) usual.emplace_back(steps, batch);
  std::sort(usual.rbegin(), usual.rend());
  if (usual.size() > kMostSizes) usual.resize(kMostSizes);
  dmprof_track* const track = dmprof_track_create("bench", clock, 0);
  SimTime at = 0;
  std::uint64_t id = kBenchSteps;
  for (const auto& [steps, batch] : usual) {
    for (const StepReport& each : bench(parameters, seed, batch)) {
      const SimTime end = at + each.end - each.start;
      if (end > ended) break;
      const NanosecondSpan time = nanosecond_span(at, end);
      dmprof_step_event step{};
      step.start = time.start;
      step.duration = time.duration;
      step.step = ++id;
      step.phase = DMPROF_DECODE;
      step.batch = each.batch;
      step.target_tokens = narrow(each.target_tokens);
      step.verify_time = std::min(time.duration, nanoseconds(each.verify_time));
      step.accept_time = std::min(time.duration - step.verify_time, nanoseconds(each.accept_time));
      dmprof_step(track, &step);
      dmprof_speculation_event row{};
      row.time = nanoseconds(end);
      row.step = id;
      row.emitted = each.batch;
      row.cut = DMPROF_CUT_BASELINE;
      dmprof_speculation(track, &row);
      at = end;
    }
  }
  dmprof_track_end(track);
}

}  // namespace dmprof::simcard
