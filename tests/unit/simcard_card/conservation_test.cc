#include <gtest/gtest.h>

#include <array>

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
  EXPECT_DOUBLE_EQ(observer.joules, r.energy.total());
  EXPECT_EQ(r.card.refused, 0u);
}

TEST(Conservation, BytesReadFromL2AreTheTransfersThatWereTold) {
  CardParameters p = sparse_card();
  KeepingObserver observer;
  const RunResult r = run_for(p, 0.2, 1, &observer);
  // What was under way at the end is read and not told yet: at most one pass of it.
  EXPECT_LE(observer.transfer_bytes, r.l2_asked_bytes);
  EXPECT_GE(observer.transfer_bytes + 16 * p.model.block_bytes, r.l2_asked_bytes);
  // All of it has come but what was on its way: a pass's blocks and stream.
  EXPECT_LE(r.l2_bytes, r.l2_asked_bytes);
  EXPECT_GE(r.l2_bytes + 64 * p.model.block_bytes, r.l2_asked_bytes);
}

// Every byte that arithmetic read as a block came out of L0, out of L1 or straight from L2, and was let into a tier
// once.
TEST(Conservation, BytesThatGoIntoATierComeOutOfItOrAreThere) {
  for (const std::uint64_t attended : {0, 512}) {
    for (std::uint32_t policy = 0; policy <= 2; ++policy) {
      CardParameters p = sparse_card();
      p.settings.cache_policy = policy;
      p.memory.l0_bytes = 5 << 20;
      p.model.attention.attended = attended;
      p.model.kv_bytes = 4096;
      p.workload.prompts.typical = 2048;
      p.model.selection.skew = 1.5;  // some blocks are asked for often enough to stay in L0
      KeepingObserver observer;
      const RunResult r = run_for(p, 0.2, 1, &observer);
      EXPECT_EQ(r.l0.hits + r.l0.misses, observer.asked_of_l0.size());
      EXPECT_EQ(r.l0.misses, r.store.hits + r.store.late + r.store.misses);
      EXPECT_EQ(r.l0.misses, observer.asked.size());
      EXPECT_EQ(r.l0.filled_bytes, r.l0.evicted_bytes + r.l0.resident_bytes);
      EXPECT_GT(r.l0.hits, 0u);
      EXPECT_GT(r.l0.evicted_bytes, 0u);
      std::uint64_t into_l1 = 0;
      for (const BlockTransfer& each : observer.transfers) into_l1 += each.bytes;
      EXPECT_LE(into_l1, r.store.demand_bytes + r.store.prefetch_bytes);
      // A pass under way at the end has asked and was not counted.
      const std::uint64_t read = r.l0.hit_bytes + r.card.l1_bytes + r.store.demand_bytes;
      EXPECT_GE(read, r.card.block_bytes);
      EXPECT_LE(read, r.card.block_bytes + 12 * (8 * p.model.block_bytes + 12 * 8 * p.model.kv_block_bytes()));
    }
  }
}

// A transfer was useful where its block went into arithmetic before it was lost.
TEST(Conservation, UsefulBytesAreThoseOfDemandsAndOfPrefetchesThatWereUsed) {
  CardParameters p = sparse_card();
  p.memory.l1_bytes = 16 << 20;  // prefetches push one another out
  KeepingObserver observer;
  const RunResult r = run_for(p, 0.2, 1, &observer);
  std::uint64_t useful = 0, told = 0;
  for (const BlockTransfer& each : observer.transfers) {
    EXPECT_TRUE(each.useful == 0 || each.useful == each.bytes);
    useful += each.useful, told += each.bytes;
  }
  const std::uint64_t block = p.model.block_bytes;
  EXPECT_LE(useful, r.store.demand_bytes + r.store.prefetches_used * block);
  EXPECT_GE(useful + 16 * block, r.store.demand_bytes + r.store.prefetches_used * block);
  EXPECT_LE(told, r.store.demand_bytes + r.store.prefetch_bytes);
  EXPECT_GE(told + 16 * block, r.store.demand_bytes + r.store.prefetch_bytes);
  EXPECT_GT(r.store.evicted_unused, 100u);
  EXPECT_LT(useful, told);
}

TEST(Conservation, EveryPrefetchThatIsLostAndEveryBlockItPushedOutIsTold) {
  CardParameters p = sparse_card();
  p.memory.l1_bytes = 16 << 20;
  KeepingObserver observer;
  const RunResult r = run_for(p, 0.2, 1, &observer);
  std::array<std::uint64_t, 4> told{};
  for (const PrefetchNotice& each : observer.prefetches) {
    ++told[static_cast<std::size_t>(each.point)];
    EXPECT_EQ(each.bytes, p.model.block_bytes);
  }
  EXPECT_EQ(told[static_cast<std::size_t>(PrefetchPoint::issued)], r.store.prefetches);
  EXPECT_EQ(told[static_cast<std::size_t>(PrefetchPoint::evicted_unused)], r.store.evicted_unused);
  EXPECT_EQ(told[static_cast<std::size_t>(PrefetchPoint::displaced)], r.store.displaced);
  EXPECT_GT(r.store.displaced, 100u);
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
  for (double EnergyParameters::*kept :
       {&EnergyParameters::l2_pj_per_bit, &EnergyParameters::l1_pj_per_bit, &EnergyParameters::l0_pj_per_bit,
        &EnergyParameters::pj_per_flop, &EnergyParameters::static_watts}) {
    CardParameters only = p;
    only.energy = {0, 0, 0, 0, 0};
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

// L0 serves what it holds at its own latency: the same run with less of it waits longer and asks L1 more often.
TEST(Mechanism, WhatL0HoldsIsNotAskedOfL1) {
  CardParameters with = sparse_card(), without = with;
  with.memory.l1_bytes = without.memory.l1_bytes = 8 << 20;
  with.memory.l0_bytes = 8 << 20;
  without.memory.l0_bytes = 0;
  const RunResult a = run_for(with, 0.2), b = run_for(without, 0.2);
  EXPECT_EQ(b.l0.hits, 0u);
  EXPECT_EQ(b.l0.filled_bytes, 0u);
  EXPECT_GT(a.l0.hits, a.l0.misses);  // twelve layers of eight blocks: all of them fit 16 x 8 MB
  EXPECT_LT(a.card.stall_time / static_cast<double>(a.card.steps),
            b.card.stall_time / static_cast<double>(b.card.steps));
}

TEST(Mechanism, TheStreamOfDenseWeightsTakesItsPartOfL0) {
  CardParameters p = dense_card();
  p.compute.modules = 16;
  p.memory.l0_bytes = 8'000'000;
  p.model.dense_bytes = 4'000'000;
  EXPECT_EQ(l0_for_blocks(p), 120'000'000u);
  p.model.dense_bytes = 100'000'000;
  EXPECT_EQ(l0_for_blocks(p), 0u);
}

// Dense attention streams its KV; sparse attention reads selected blocks of it, which the caches keep.
TEST(Mechanism, SparseAttentionReadsSelectedBlocksOfKvThroughTheCaches) {
  CardParameters dense = sparse_card();
  dense.model.selection.blocks = 0;
  dense.model.kv_bytes = 1024;
  dense.workload.prompts.typical = 8192;
  CardParameters sparse = dense;
  sparse.model.attention.attended = 256;
  KeepingObserver streamed, selected;
  const RunResult a = run_for(dense, 0.1, 1, &streamed), b = run_for(sparse, 0.1, 1, &selected);
  EXPECT_TRUE(streamed.asked_of_l0.empty());
  ASSERT_FALSE(selected.asked_of_l0.empty());
  for (const BlockId block : selected.asked_of_l0) ASSERT_TRUE(is_kv(block));
  EXPECT_GT(b.l0.hits + b.store.hits, b.store.misses);
  const auto kv_of_a_step = [](const KeepingObserver& observer) {
    for (const StepReport& each : observer.steps) {
      if (!each.prefill) return each.kv_bytes;
    }
    return std::uint64_t{0};
  };
  EXPECT_EQ(kv_of_a_step(streamed), 12 * 8193u * 1024u);
  // Six tokens of a pass read at most 256 tokens' blocks each, and not less than one of them does alone.
  EXPECT_GE(kv_of_a_step(selected), 12 * 4 * 64 * 1024u);
  EXPECT_LE(kv_of_a_step(selected), 12 * 6 * 4 * 64 * 1024u);
  EXPECT_LT(b.l2_bytes / std::max<std::uint64_t>(b.card.steps, 1),
            a.l2_bytes / std::max<std::uint64_t>(a.card.steps, 1));
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
