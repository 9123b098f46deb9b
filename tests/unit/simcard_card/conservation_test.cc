#include <gtest/gtest.h>

#include "tests/unit/simcard_card/cards.h"
#include "tests/unit/simcard_card/recording_observer.h"

namespace dmprof::simcard {
namespace {

TEST(Conservation, RequestsThatArrivedEndedOrAreThere) {
  CardParameters p = sparse_card();
  p.workload.arrivals.kind = workload::Arrivals::Kind::bursts;
  p.workload.arrivals.burst = 7;
  p.workload.arrivals.period_s = 0.030;
  KeepingObserver observer;
  const RunResult r = run_for(p, 0.5, 1, &observer);
  EXPECT_EQ(r.card.arrived, r.card.completed + r.in_flight);
  EXPECT_EQ(observer.requests_ended, r.card.completed);
  EXPECT_EQ(r.card.refused, 0u);
}

TEST(Conservation, BytesReadFromL2AreTheTransfersThatWereTold) {
  CardParameters p = sparse_card();
  KeepingObserver observer;
  const RunResult r = run_for(p, 0.2, 1, &observer);
  // What was under way at the end is read and not told yet: at most one pass of it.
  EXPECT_LE(observer.transfer_bytes, r.l2_bytes);
  EXPECT_GE(observer.transfer_bytes + 16 * p.model.block_bytes, r.l2_bytes);
}

TEST(Conservation, EveryAccessIsAHitLateOrAMiss) {
  KeepingObserver observer;
  const RunResult r = run_for(sparse_card(), 0.2, 1, &observer);
  EXPECT_EQ(r.store.hits + r.store.late + r.store.misses, observer.asked.size());
  EXPECT_GE(r.store.prefetches, r.store.prefetches_used + r.store.evicted_unused);
}

TEST(Conservation, StagesOfAStepFillIt) {
  KeepingObserver observer;
  const CardParameters p = sparse_card();
  run_for(p, 0.1, 1, &observer);
  ASSERT_GT(observer.steps.size(), 50u);
  for (const StepReport& step : observer.steps) {
    if (step.prefill) continue;
    EXPECT_EQ(step.draft_time + step.verify_time + step.accept_time + p.compute.step_host, step.end - step.start);
  }
}

TEST(Conservation, EnergyIsTheSumOfItsParts) {
  CardParameters p = sparse_card();
  const double all = run_for(p, 0.1).energy.total();
  double parts = 0;
  for (double EnergyParameters::*kept : {&EnergyParameters::l2_pj_per_bit, &EnergyParameters::l1_pj_per_bit,
                                         &EnergyParameters::pj_per_flop, &EnergyParameters::static_watts}) {
    CardParameters only = p;
    only.energy = {0, 0, 0, 0};
    only.energy.*kept = p.energy.*kept;
    parts += run_for(only, 0.1).energy.total();
  }
  EXPECT_NEAR(parts / all, 1, 1e-12);
}

TEST(Determinism, SameSeedSameEventStreamOtherSeedAnother) {
  KeepingObserver first, second, other;
  run_for(sparse_card(), 0.1, 5, &first);
  run_for(sparse_card(), 0.1, 5, &second);
  run_for(sparse_card(), 0.1, 6, &other);
  EXPECT_EQ(first.hash, second.hash);
  EXPECT_NE(first.hash, other.hash);
}

TEST(Determinism, ACardBesideOthersDoesWhatItDoesAlone) {
  KeepingObserver alone, beside;
  run_for(sparse_card(), 0.05, 5, &alone);
  const RunResult r = run_for(sparse_card(), 0.05, 5, &beside, 8);
  EXPECT_EQ(alone.hash, beside.hash);
  EXPECT_GE(r.card.arrived, 8u);
}

// What prefetch scheduling is for: without it nothing is fetched early.
TEST(Mechanism, WithoutPrefetchSchedulingHitsAreFewerAndStepsLonger) {
  CardParameters with = sparse_card(), without = with;
  without.prefetch = false;
  const RunResult a = run_for(with, 0.3), b = run_for(without, 0.3);
  EXPECT_GT(hit_rate(a), hit_rate(b) + 0.05);
  EXPECT_LT(a.card.decode_time / static_cast<double>(a.card.steps),
            b.card.decode_time / static_cast<double>(b.card.steps));
}

// Turns help when drafts do not divide by engines: ten on four take 3 rounds whole, 2.5 in turns.
TEST(Mechanism, TakingTurnsShortensTheDraftingOfTenOnFourEngines) {
  CardParameters p = dense_card();
  p.workload.arrivals.users = 10;
  p.workload.outputs.typical = 2000;
  const double whole = run_for(p, 0.2).card.draft_time;
  p.settings.interleave = true;
  const double turns = run_for(p, 0.2).card.draft_time;
  EXPECT_LT(turns, whole * 0.95);
}

TEST(Overload, ArrivalsBeyondTheCardEndWithAVerdictAndBoundedMemory) {
  CardParameters p = sparse_card();
  p.workload.arrivals.kind = workload::Arrivals::Kind::poisson;
  p.workload.arrivals.rate = 1e6;
  p.most_waiting = 500;
  const RunResult r = run_for(p, 10);
  EXPECT_NE(r.verdict.find("overload"), std::string::npos) << r.verdict;
  EXPECT_LT(seconds(r.ended), 0.1);
  EXPECT_LE(r.in_flight, 500u + p.most_batch);
}

}  // namespace
}  // namespace dmprof::simcard
