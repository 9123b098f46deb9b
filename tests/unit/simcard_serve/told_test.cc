// What an observer of the node is told: all of it, in order, and the run is the one that nobody watches.
#include <cstdint>
#include <map>
#include <vector>

#include <gmock/gmock.h>

#include "samples/simcard/serve/serve.h"

namespace dmprof::simcard {
namespace {

using workload::Arrivals;
using workload::Lengths;

class Keeping : public ServeObserver {
 public:
  std::map<ServeMoment, std::uint64_t> moments, tokens;
  std::vector<ServeStep> steps;
  std::uint64_t drafted = 0, accepted = 0, emitted = 0, most_in_step = 0, prompt_tokens = 0;
  double drafting = 0, prefilling = 0, sent = 0, joules = 0, kv = 0;
  std::map<std::size_t, double> moved, asked;

  void on_request(ServeMoment moment, std::uint64_t request, SimTime time, std::uint64_t count) override {
    EXPECT_GT(request, 0u);
    EXPECT_GE(time, last_);
    last_ = time;
    ++moments[moment], tokens[moment] += count;
  }
  void on_draft(std::uint32_t, SimTime start, SimTime end, std::uint64_t) override { drafting += seconds(end - start); }
  void on_prefill(std::uint32_t, SimTime start, SimTime end, std::uint64_t) override {
    prefilling += seconds(end - start);
  }
  void on_cache_sent(SimTime start, SimTime end, double bytes) override {
    EXPECT_LT(start, end);
    sent += bytes;
  }
  void on_step(const ServeStep& step, std::span<const ServeSpeculation> sequences) override {
    EXPECT_LE(step.start, step.verify);
    EXPECT_LE(step.verify, step.end - step.prefill);
    if (!steps.empty()) {
      EXPECT_GE(step.start, steps.back().end);
    }
    EXPECT_EQ(step.step, steps.size() + 1);
    EXPECT_LE(step.kv_bytes, step.cost.memory_bytes * (1 + 1e-9));
    steps.push_back(step);
    prompt_tokens += step.prompt_tokens;
    most_in_step = std::max<std::uint64_t>(most_in_step, sequences.size());
    for (const ServeSpeculation& each : sequences) {
      EXPECT_LE(each.accepted, each.drafted);
      EXPECT_LE(each.emitted, each.accepted + 1);
      drafted += each.drafted, accepted += each.accepted, emitted += each.emitted;
    }
  }
  void on_tier_transfer(const TierTransfer& transfer) override {
    EXPECT_LE(transfer.start, transfer.end);
    EXPECT_GE(transfer.requests, 1);
    moved[transfer.tier] += transfer.moved, asked[transfer.tier] += transfer.asked;
  }
  void on_queue(SimTime, std::uint64_t active, std::uint64_t) override { most_active = std::max(most_active, active); }
  void on_gauges(SimTime, double used, double room, double total) override {
    EXPECT_LE(used, room * (1 + 1e-9));
    EXPECT_GE(total, joules);
    joules = total, kv = std::max(kv, used);
  }
  std::uint64_t most_active = 0;

 private:
  SimTime last_ = 0;
};

ServeSpec spec_of(Prefill prefill) {
  ServeSpec spec;
  spec.hardware = *open_hardware("c8-node");
  spec.model = *open_model("dense-7b");
  spec.speculation.lookahead = 3;
  spec.most_active = 8;
  spec.requests = 60;
  // Memory for three of the requests' caches, so that sequences are preempted into the tier.
  const double weights = parameters(spec.model) * spec.model.weight_bytes;
  spec.hardware.memory_capacity = (weights + 3 * 500 * kv_bytes_per_token(spec.model)) / 8;
  spec.hardware.tiers = {{"pool", 1e12, {50e9, 2e-6, 10e-12}, 1 << 20, 64, 1.5, 0}};
  spec.prefill = prefill;
  spec.prefill_hardware = *open_hardware("c8-node");
  return spec;
}

ServeResult run(const ServeSpec& spec) {
  Arrivals arrivals;
  arrivals.kind = Arrivals::Kind::closed_loop;
  arrivals.users = 8;
  const Result<ServeResult> result =
      serve(spec, workload::Source(arrivals, {Lengths::Kind::fixed, 100}, {Lengths::Kind::fixed, 400}, 1));
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result.value_or(ServeResult{});
}

TEST(Told, IsAllThatTheResultCounts) {
  for (const Prefill prefill : {Prefill::none, Prefill::together, Prefill::apart}) {
    for (const bool together : {true, false}) {
      ServeSpec spec = spec_of(prefill);
      spec.wait_for_all_drafts = together;
      Keeping told;
      spec.observer = &told;
      const ServeResult r = run(spec);
      EXPECT_EQ(told.moments[ServeMoment::arrive], r.issued);
      EXPECT_EQ(told.moments[ServeMoment::schedule], r.issued + r.preempted);  // again when it comes back
      EXPECT_EQ(told.moments[ServeMoment::first_token], r.completed);
      EXPECT_EQ(told.moments[ServeMoment::end], r.completed);
      EXPECT_EQ(told.moments[ServeMoment::preempt], r.preempted);
      EXPECT_GT(r.preempted, 0u);
      EXPECT_EQ(told.tokens[ServeMoment::preempt] > 0, r.recomputed > 0);
      EXPECT_EQ(told.tokens[ServeMoment::end], r.tokens);
      EXPECT_EQ(told.emitted, r.tokens);
      EXPECT_EQ(told.steps.size(), r.steps);
      EXPECT_EQ(told.accepted, r.accepted);
      EXPECT_GT(told.drafted, r.accepted);
      EXPECT_LE(told.drafted, r.drafted);  // drafts of a sequence that was preempted count twice there
      EXPECT_GT(told.drafting, 0);
      EXPECT_LE(told.most_in_step, 8u);
      EXPECT_LE(told.most_active, 8u);
      double moved = 0;
      for (std::size_t i = 0; i < r.tiers.size(); ++i) {
        EXPECT_NEAR(told.moved[i], r.tiers[i].moved, 1e-6 * (1 + r.tiers[i].moved));
        EXPECT_NEAR(told.asked[i], r.tiers[i].written + r.tiers[i].read, 1e-6 * (1 + r.tiers[i].moved));
        moved += told.moved[i];
      }
      EXPECT_GT(moved, 0);
      EXPECT_NEAR(told.joules / r.energy.total, 1, 1e-6);
      EXPECT_LE(told.kv, r.kv_peak * (1 + 1e-9));
      EXPECT_EQ(told.sent > 0, prefill == Prefill::apart);
      EXPECT_EQ(told.prefilling > 0, prefill == Prefill::apart);
      EXPECT_EQ(told.prompt_tokens > 0, prefill == Prefill::together || r.recomputed > 0);
    }
  }
}

TEST(Told, WatchingChangesNothing) {
  for (const Prefill prefill : {Prefill::together, Prefill::apart}) {
    ServeSpec spec = spec_of(prefill);
    const ServeResult alone = run(spec);
    Keeping told;
    spec.observer = &told;
    const ServeResult watched = run(spec);
    EXPECT_EQ(alone.seconds, watched.seconds);
    EXPECT_EQ(alone.steps, watched.steps);
    EXPECT_EQ(alone.accepted, watched.accepted);
    EXPECT_EQ(alone.energy.total, watched.energy.total);
    EXPECT_EQ(alone.token_gap.p99, watched.token_gap.p99);
  }
}

}  // namespace
}  // namespace dmprof::simcard
