// What lies behind the cards' memory while requests are served: bytes, room and joules add up, and the knobs matter.
#include <gmock/gmock.h>

#include "samples/simcard/serve/serve.h"

namespace dmprof::simcard {
namespace {

using workload::Arrivals;
using workload::Lengths;

constexpr double pj_per_bit = 10e-12;

TierParameters pool(const char* name, double capacity) {
  return {name, capacity, {50e9, 2e-6, pj_per_bit}, 1 << 20, 64, 1, 0};
}

// A node whose memory holds the caches of about three of the requests that source() makes.
ServeSpec spec_of(std::int64_t requests, std::vector<TierParameters> tiers) {
  ServeSpec spec;
  spec.hardware = *open_hardware("c8-node");
  spec.model = *open_model("dense-7b");
  spec.speculation.lookahead = 3;
  spec.most_active = 8;
  spec.requests = requests;
  const double weights = parameters(spec.model) * spec.model.weight_bytes;
  spec.hardware.memory_capacity = (weights + 3 * 500 * kv_bytes_per_token(spec.model)) / 8;
  spec.hardware.tiers = std::move(tiers);
  spec.prefill = Prefill::together;
  return spec;
}

ServeResult run(const ServeSpec& spec, std::int64_t users = 8) {
  Arrivals arrivals;
  arrivals.kind = Arrivals::Kind::closed_loop;
  arrivals.users = users;
  const Result<ServeResult> result =
      serve(spec, workload::Source(arrivals, {Lengths::Kind::fixed, 100}, {Lengths::Kind::fixed, 400}, 1));
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result.value_or(ServeResult{});
}

void expect_conserved(const ServeSpec& spec, const ServeResult& r) {
  EXPECT_EQ(r.issued, r.completed + r.refused);
  EXPECT_EQ(r.tokens, r.tokens_asked);
  EXPECT_NEAR(r.little(), 1, 0.01);
  EXPECT_LE(r.kv_peak, r.kv_room * (1 + 1e-12));
  EXPECT_NEAR(r.kv_left, 0, 1);
  double joules = 0;
  for (std::size_t i = 0; i < r.tiers.size(); ++i) {
    const TierUse& tier = r.tiers[i];
    const double scale = 1 + tier.placed + tier.written + tier.read;
    EXPECT_NEAR(tier.placed + tier.written, tier.held + tier.released, 1e-9 * scale) << tier.name;
    EXPECT_NEAR(tier.held, tier.placed, 1e-9 * scale) << "a cache was left behind in " << tier.name;
    EXPECT_NEAR(tier.moved * spec.hardware.tiers[i].compression, tier.written + tier.read, 1e-9 * scale) << tier.name;
    EXPECT_LE(tier.peak / spec.hardware.tiers[i].compression, spec.hardware.tiers[i].capacity) << tier.name;
    EXPECT_LE(tier.busy, r.seconds);
    joules += tier.moved * 8 * pj_per_bit;
  }
  EXPECT_NEAR(r.energy.tiers, joules, 1e-9 * (1 + joules));
  EXPECT_NEAR(r.energy.parts() / r.energy.total, 1, 1e-9);
}

double caches_written(const ServeResult& r) {
  double bytes = 0;
  for (const TierUse& tier : r.tiers) bytes += tier.written;
  return bytes;
}

double caches_read(const ServeResult& r) {
  double bytes = 0;
  for (const TierUse& tier : r.tiers) bytes += tier.read;
  return bytes - r.cold_bytes;
}

TEST(Tiers, WithRoomForAllNothingMoves) {
  ServeSpec spec = spec_of(60, {pool("nvme", 1e13)});
  spec.hardware.memory_capacity = 128e9;
  const ServeResult r = run(spec);
  expect_conserved(spec, r);
  EXPECT_EQ(r.preempted, 0u);
  EXPECT_EQ(caches_written(r), 0);
}

TEST(Tiers, CachesOfPreemptedSequencesGoOutAndComeBackToTheLastByte) {
  for (const bool all : {true, false}) {
    ServeSpec spec = spec_of(120, {pool("nvme", 1e13)});
    spec.wait_for_all_drafts = all;
    const ServeResult r = run(spec);
    expect_conserved(spec, r);
    EXPECT_GT(r.preempted, 10u);
    EXPECT_EQ(r.recomputed, 0u);
    EXPECT_GT(caches_written(r), 0);
    EXPECT_NEAR(caches_written(r), caches_read(r), 1);
    EXPECT_GT(r.kv_peak, 0.7 * r.kv_room);
  }
}

TEST(Tiers, WhereNoTierHasRoomTheCacheIsComputedAgain) {
  ServeSpec small = spec_of(60, {pool("nvme", 1e6)}), none = spec_of(60, {});
  for (const ServeSpec& spec : {small, none}) {
    const ServeResult r = run(spec);
    expect_conserved(spec, r);
    EXPECT_GT(r.preempted, 5u);
    EXPECT_EQ(r.recomputed, r.preempted);
    EXPECT_EQ(caches_written(r), 0);
  }
}

TEST(Tiers, TheSecondTakesWhatTheFirstCannotHold) {
  const ServeSpec one = spec_of(1, {});
  const ServeSpec spec = spec_of(120, {pool("cxl", 250 * kv_bytes_per_token(one.model)), pool("nvme", 1e13)});
  const ServeResult r = run(spec);
  expect_conserved(spec, r);
  EXPECT_GT(r.tiers[0].written, 0);
  EXPECT_GT(r.tiers[1].written, 0);
}

TEST(Tiers, CompressionMovesFewerBytesAndHoldsMore) {
  ServeSpec spec = spec_of(120, {pool("cxl", 250 * kv_bytes_per_token(spec_of(1, {}).model))});
  const ServeResult plain = run(spec);
  spec.hardware.tiers[0].compression = 4;
  const ServeResult packed = run(spec);
  expect_conserved(spec, packed);
  EXPECT_NEAR(packed.tiers[0].moved * 4, packed.tiers[0].written + packed.tiers[0].read, 1);
  EXPECT_LT(packed.recomputed, plain.recomputed);
}

TEST(Tiers, ASlowPoolLengthensTheRun) {
  ServeSpec spec = spec_of(120, {pool("nvme", 1e13)});
  const double fast = run(spec).seconds;
  spec.hardware.tiers[0].link.bandwidth = 1e9;
  const ServeResult slow = run(spec);
  expect_conserved(spec, slow);
  EXPECT_GT(slow.seconds, 1.05 * fast);
  spec.hardware.tiers[0].link.bandwidth = 50e9;
  spec.hardware.tiers[0].link.latency = 2e-3;
  spec.hardware.tiers[0].outstanding = 1;
  EXPECT_GT(run(spec).seconds, 1.05 * fast);  // one request at a time: the latency is the bandwidth
}

TEST(Tiers, CachesThatWaitAfterPrefillElsewhereLieInMemoryOrInATier) {
  ServeSpec spec = spec_of(120, {pool("nvme", 1e13)});
  spec.prefill = Prefill::apart;
  spec.prefill_hardware = *open_hardware("prefill-node");
  spec.most_active = 2;
  const ServeResult r = run(spec, 12);
  expect_conserved(spec, r);
  EXPECT_GT(caches_written(r), 0);
  EXPECT_NEAR(caches_written(r), caches_read(r), 1);
  ServeSpec bare = spec;
  bare.hardware.tiers.clear();
  expect_conserved(bare, run(bare, 12));
}

TEST(Tiers, ARequestLongerThanTheMemoryIsRefusedAndTheOthersGoOn) {
  ServeSpec spec = spec_of(20, {pool("nvme", 1e13)});
  spec.hardware.memory_capacity =
      (parameters(spec.model) * spec.model.weight_bytes + 400 * kv_bytes_per_token(spec.model)) / 8;
  const ServeResult r = run(spec);
  EXPECT_EQ(r.refused, 20u);
  EXPECT_EQ(r.completed, 0u);
  EXPECT_FALSE(r.overloaded);
}

TEST(Tiers, WeightsThatDoNotFitAreReadInEveryStep) {
  ServeSpec spec = spec_of(10, {pool("nvme", 1e13)});
  const double weights = parameters(spec.model) * spec.model.weight_bytes;
  spec.hardware.memory_capacity = 0.6 * weights / 8;
  spec.kv_share = 0.1;
  const ServeResult r = run(spec, 1);
  expect_conserved(spec, r);
  EXPECT_NEAR(r.tiers[0].placed, weights - 0.9 * 0.6 * weights, 1);
  EXPECT_NEAR(r.tiers[0].read, r.cold_bytes, 1e-9 * r.cold_bytes);
  EXPECT_GT(r.cold_seconds / static_cast<double>(r.steps), 0.9 * 0.46 * weights / 50e9);
  spec.hardware.tiers[0].capacity = 1e6;
  const Result<ServeResult> lost = serve(spec, workload::Source({}, {}, {}, 1));
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().message, testing::HasSubstr("cannot hold what its cards do not of dense-7b"));
}

TEST(Tiers, PopularExpertsStayAndRareOnesAreReadWhenMet) {
  ServeSpec spec = spec_of(6, {pool("nvme", 1e13)});
  spec.model = *open_model("moe-400b");
  const double weights = parameters(spec.model) * spec.model.weight_bytes;
  spec.hardware.memory_capacity = 0.7 * weights / 8;
  const ServeResult even = run(spec, 2);
  expect_conserved(spec, even);
  EXPECT_GT(even.expert_misses, 0u);
  // Every miss is one expert read, no more and no less.
  const double expert = expert_parameters(spec.model) * spec.model.weight_bytes;
  EXPECT_NEAR(even.tiers[0].read - (caches_read(even)), static_cast<double>(even.expert_misses) * expert,
              1e-9 * even.tiers[0].read);
  spec.expert_skew = 1.3;
  const ServeResult skewed = run(spec, 2);
  const auto rate = [](const ServeResult& r) {
    return static_cast<double>(r.expert_hits) / static_cast<double>(r.expert_hits + r.expert_misses);
  };
  EXPECT_GT(rate(skewed), rate(even) + 0.1);
  EXPECT_LT(skewed.cold_seconds, even.cold_seconds);
}

TEST(Tiers, APrefillNodeThatCannotHoldTheModelIsRefused) {
  ServeSpec spec = spec_of(10, {pool("nvme", 1e13)});
  spec.prefill = Prefill::apart;
  spec.prefill_hardware = spec.hardware;
  spec.prefill_hardware.memory_capacity = 1e9;
  const Result<ServeResult> result = serve(spec, workload::Source({}, {}, {}, 1));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, testing::HasSubstr("prefills; add cards to it"));
}

}  // namespace
}  // namespace dmprof::simcard
