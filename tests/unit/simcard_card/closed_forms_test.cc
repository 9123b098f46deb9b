// What a run must agree with because it can be computed without simulating.
#include <gtest/gtest.h>

#include "dmprof/cachemodel/replay.h"
#include "tests/unit/simcard_card/cards.h"
#include "tests/unit/simcard_card/recording_observer.h"

namespace dmprof::simcard {
namespace {

// Little: requests present = throughput x residence time. Every kind of arrivals, drained or not.
TEST(ClosedForms, LittleHoldsForEveryKindOfArrivals) {
  using Kind = workload::Arrivals::Kind;
  for (const auto kind : {Kind::closed_loop, Kind::poisson, Kind::bursty, Kind::bursts}) {
    CardParameters p = sparse_card();
    p.workload.arrivals.kind = kind;
    p.workload.arrivals.users = 3;
    p.workload.arrivals.rate = 200;
    p.model.selection.layers = 3;
    p.workload.arrivals.burst = 5;
    p.workload.arrivals.period_s = 0.080;
    const RunResult r = run_for(p, 2.5);
    ASSERT_GT(r.card.completed, 150u);
    // Requests still there at the end count for `present` and not for `sojourn`: below 1 % of this many.
    EXPECT_NEAR(r.card.sojourn / r.card.present, 1, 0.01) << static_cast<int>(kind);
    EXPECT_NEAR(r.little(), 1, 1e-9) << static_cast<int>(kind);  // with them it is exact
    EXPECT_EQ(r.verdict, "");
  }
}

// A dense model at one token a step, nothing but streaming: bytes / bandwidth a layer, plus what is stated as fixed.
TEST(ClosedForms, StreamingAStepTakesItsBytesAtFullBandwidth) {
  CardParameters p = dense_card();
  p.settings.draft_billions = 0;
  p.compute.layer_sync = p.compute.step_host = p.compute.accept_token = 0;
  p.memory.l2_latency = p.memory.row_miss = 0;
  p.model.kv_bytes = 0;
  const RunResult r = run_for(p, 0.5);
  const double ideal = 12.0 * static_cast<double>(p.model.dense_bytes) / p.memory.l2_bandwidth;
  // The last layer computes after its bytes came; the others hide behind the next one's.
  EXPECT_NEAR(r.card.decode_time / static_cast<double>(r.card.steps) / ideal, 1, 0.01);
}

// The same with so little arithmetic that FLOPs bind: FLOPs / peak.
TEST(ClosedForms, AStepBoundByArithmeticTakesItsFlopsAtPeak) {
  CardParameters p = dense_card();
  p.compute.layer_sync = p.compute.step_host = p.compute.accept_token = 0;
  p.settings.draft_billions = 0;
  p.compute.peak_flops = 1e11;
  const RunResult r = run_for(p, 8);
  const double ideal = 12 * 2.0 * static_cast<double>(p.model.dense_bytes) / p.model.bytes_per_parameter / 1e11;
  EXPECT_NEAR(r.card.decode_time / static_cast<double>(r.card.steps) / ideal, 1, 0.01);
}

// Leviathan et al.: with acceptance a at every position E = (1 - a^(N+1)) / (1 - a).
TEST(ClosedForms, TokensPerStepFollowTheAcceptance) {
  CardParameters p = dense_card();
  p.acceptance = {.miss_at_1b = 0.25, .size_exponent = 0, .position_decay = 1, .length_loss = 0};
  p.settings.lookahead = 4;
  p.workload.outputs.typical = 4000;
  const RunResult r = run_for(p, 4);
  const double a = 0.75, ideal = (1 - a * a * a * a * a) / (1 - a);
  EXPECT_NEAR(static_cast<double>(r.card.decoded) / static_cast<double>(r.card.steps) / ideal, 1, 0.02);
}

// Without prefetch no policy hits more often than Belady's offline optimum.
TEST(ClosedForms, NoPolicyBeatsTheOptimumWithoutPrefetch) {
  for (std::uint32_t policy = 0; policy <= 2; ++policy) {
    CardParameters p = sparse_card();
    p.prefetch = false;
    p.settings.cache_policy = policy;
    KeepingObserver observer;
    const RunResult r = run_for(p, 0.2, 1, &observer);
    std::vector<cachemodel::TraceAccess> trace;
    for (const BlockId block : observer.asked) trace.push_back({block, p.model.block_bytes});
    const cachemodel::ReplayResult optimum = cachemodel::replay_optimum(trace, p.memory.l1_bytes);
    ASSERT_TRUE(optimum.exact);
    EXPECT_LE(hit_rate(r), optimum.hit_rate() + 0.01)
        << policy;  // accesses of a pass are reported as they are worked on
    EXPECT_EQ(r.store.prefetches, 0u);
  }
}

TEST(ClosedForms, AchievedBandwidthStaysBelowThePeak) {
  for (const std::uint32_t under_way : {1u, 64u}) {
    CardParameters p = sparse_card();
    p.memory.prefetch_outstanding = p.memory.demand_outstanding = under_way;
    const RunResult r = run_for(p, 0.2);
    EXPECT_LT(static_cast<double>(r.l2_bytes), 0.2 * p.memory.l2_bandwidth);
    EXPECT_LT(static_cast<double>(r.card.l1_bytes), 0.2 * p.memory.l1_bandwidth);
  }
}

}  // namespace
}  // namespace dmprof::simcard
