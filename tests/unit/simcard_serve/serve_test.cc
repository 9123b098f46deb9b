#include "samples/simcard/serve/serve.h"

#include <gmock/gmock.h>

namespace dmprof::simcard {
namespace {

using workload::Arrivals;
using workload::Lengths;

ServeSpec spec_of(std::int64_t requests) {
  ServeSpec spec;
  spec.hardware = *open_hardware("c8-node");
  spec.model = *open_model("dense-120b");
  spec.speculation.lookahead = 5;
  spec.most_active = 8;
  spec.requests = requests;
  return spec;
}

workload::Source source(const Arrivals& arrivals, std::uint64_t seed = 1) {
  const Lengths lengths{Lengths::Kind::lognormal, 60, 0.7};
  return workload::Source(arrivals, lengths, lengths, seed);
}

Arrivals users(std::int64_t n) {
  Arrivals a;
  a.kind = Arrivals::Kind::closed_loop;
  a.users = n;
  return a;
}

Arrivals rate(double r, bool bursty = false) {
  Arrivals a;
  a.kind = bursty ? Arrivals::Kind::bursty : Arrivals::Kind::poisson;
  a.rate = r;
  return a;
}

ServeResult run(const ServeSpec& spec, const Arrivals& arrivals) {
  const Result<ServeResult> result = serve(spec, source(arrivals, spec.seed));
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result.value_or(ServeResult{});
}

void expect_conserved(const ServeSpec& spec, const ServeResult& r) {
  EXPECT_NEAR(r.little(), 1, 0.01);
  EXPECT_EQ(r.issued, r.completed);
  EXPECT_EQ(r.issued, static_cast<std::uint64_t>(spec.requests));
  EXPECT_EQ(r.tokens, r.tokens_asked);
  EXPECT_NEAR(r.energy.parts() / r.energy.total, 1, 1e-9);
  EXPECT_LE(r.accepted, r.drafted);
  EXPECT_LE(r.engine_utilization, 1);
}

TEST(Serve, LittlesLawAndConservationHoldForEveryKindOfLoad) {
  for (const Arrivals& arrivals : {users(1), users(8), users(30), rate(3), rate(6, true)}) {
    for (const Prefill prefill : {Prefill::none, Prefill::together, Prefill::apart}) {
      ServeSpec spec = spec_of(150);
      spec.prefill = prefill;
      spec.prefill_hardware = spec.hardware;
      expect_conserved(spec, run(spec, arrivals));
      spec.wait_for_all_drafts = false;
      expect_conserved(spec, run(spec, arrivals));
    }
  }
}

TEST(Serve, EnergyIsBytesAndFlopsTimesTheirCostAndIdlePowerTimesTime) {
  ServeSpec spec = spec_of(40);
  spec.speculation.lookahead = 0;
  const ServeResult r = run(spec, users(4));
  const Hardware& h = spec.hardware;
  EXPECT_NEAR(r.energy.memory / (r.memory_bytes * 8 * h.memory_energy), 1, 1e-9);
  EXPECT_NEAR(r.energy.compute / (r.flops * h.compute_energy), 1, 1e-9);
  EXPECT_NEAR(r.energy.link / (r.link_bytes * 8 * h.link.energy_per_bit), 1, 1e-9);
  EXPECT_NEAR(r.energy.idle / (8 * h.idle_power * r.seconds), 1, 1e-9);
  EXPECT_EQ(r.energy.draft, 0);
}

TEST(Serve, TokensPerStepFollowTheAcceptance) {
  ServeSpec spec = spec_of(400);
  const ServeResult r = run(spec, users(1));
  // E = (1 - a^(N+1)) / (1 - a); the last step of a request is cut short, so the mean over drafts is compared
  double expected = 0, a = 1;
  for (int k = 0; k < 5; ++k) expected += a *= 0.775;
  EXPECT_NEAR(static_cast<double>(r.accepted) / static_cast<double>(r.steps) / expected, 1, 0.02);
}

TEST(Serve, SameSeedSameResultOtherSeedAnother) {
  ServeSpec spec = spec_of(60);
  const ServeResult a = run(spec, rate(4)), b = run(spec, rate(4));
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.energy.total, b.energy.total);
  EXPECT_EQ(a.step_time.p99, b.step_time.p99);
  spec.seed = 2;
  EXPECT_NE(run(spec, rate(4)).seconds, a.seconds);
}

TEST(Serve, MoreSequencesThanEnginesWaitForOne) {
  EXPECT_EQ(run(spec_of(60), users(4)).engine_wait, 0);
  ServeSpec spec = spec_of(60);
  const ServeResult crowded = run(spec, users(8));
  EXPECT_GT(crowded.engine_wait, 0.2e-3);  // the second four wait for a whole draft of 0.6 ms
}

TEST(Serve, VerifyingWhateverIsReadyCostsThroughputOnceDraftsQueue) {
  ServeSpec spec = spec_of(300);
  const double all = run(spec, users(8)).throughput;
  spec.wait_for_all_drafts = false;
  const double ready = run(spec, users(8)).throughput;
  EXPECT_LT(ready, 0.8 * all);
}

TEST(Serve, PrefillBetweenStepsIsSeenInTheGapsAndApartIsNot) {
  ServeSpec spec = spec_of(100);
  const Lengths prompts{Lengths::Kind::fixed, 4000}, outputs{Lengths::Kind::fixed, 60};
  spec.prefill_hardware = spec.hardware;
  const auto gap = [&](Prefill prefill) {
    spec.prefill = prefill;
    return serve(spec, workload::Source(users(8), prompts, outputs, 1))->token_gap.p99;
  };
  EXPECT_GT(gap(Prefill::together), 1.5 * gap(Prefill::apart));
}

TEST(Serve, ALoadBeyondTheNodeEndsWithAVerdict) {
  ServeSpec spec = spec_of(1'000'000);
  spec.most_waiting = 2000;
  const ServeResult r = run(spec, rate(1e5));
  EXPECT_TRUE(r.overloaded);
  EXPECT_LT(r.issued, 10'000u);
}

TEST(Serve, WhatCannotRunIsRefused) {
  ServeSpec spec = spec_of(10);
  spec.model = *open_model("dense-1t");
  spec.hardware.tiers.clear();
  const Result<ServeResult> result = serve(spec, source(users(1)));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, testing::HasSubstr("has no tier behind; add cards or a tier"));
  spec = spec_of(0);
  EXPECT_FALSE(serve(spec, source(users(1))));
  spec = spec_of(1);
  spec.parallel.pipeline_stages = 3;
  EXPECT_FALSE(serve(spec, source(users(1))));
  spec = spec_of(1);
  spec.speculation.acceptance.clear();
  EXPECT_FALSE(serve(spec, source(users(1))));
}

TEST(Serve, TwoLevelsOfDraftsTakeLessTimeWhenTheCoarseOneIsRight) {
  ServeSpec spec = spec_of(200);
  spec.hardware.draft_token = 2e-3;
  const double one = run(spec, users(2)).throughput;
  spec.hardware.coarse = {3, 0.8, 0.05e-3};
  EXPECT_GT(run(spec, users(2)).throughput, 1.1 * one);
  spec.hardware.coarse = {3, 0, 1e-3};  // always wrong: all its time is lost, more than chance makes of a run
  EXPECT_LT(run(spec, users(2)).throughput, one);
}

TEST(Drafting, ATwoLevelDraftIsChargedByItsPassesAndWhatWasGuessed) {
  Hardware h;
  h.cards = 8;
  h.mirrored = true;
  h.memory_energy = 4e-12;
  h.compute_energy = 0.5e-12;
  h.draft_token = 1e-3;
  h.draft_bytes = 2e9;
  h.draft_bytes_per_parameter = 2;
  h.coarse = {3, 1, 0.1e-3, 0.2e9};  // always right
  Speculation five;
  five.lookahead = 5;
  Random luck(1, "drafts");
  // Three guesses and a token of its own; the fifth needs no guess.
  const DraftWork work = draft_work(h, five, luck);
  EXPECT_EQ(work.passes, 2);
  EXPECT_EQ(work.coarse_tokens, 3);
  EXPECT_EQ(work.checked_tokens, 5);
  EXPECT_DOUBLE_EQ(draft_seconds(h, work), 2 * 1e-3 + 3 * 0.1e-3);
  Energy energy;
  charge_drafts(h, work, energy);
  const double bytes = 2 * 2e9 + 3 * 0.2e9, flops = 2 * (5 * 1e9 + 3 * 0.1e9);
  EXPECT_NEAR(energy.draft, 8 * (bytes * 8 * 4e-12 + flops * 0.5e-12), 1e-9);
  EXPECT_DOUBLE_EQ(energy.total, energy.draft);

  h.coarse = {};  // one level: a pass is a token
  const DraftWork plain = draft_work(h, five, luck);
  EXPECT_EQ(plain.passes, 5);
  EXPECT_EQ(plain.checked_tokens, 5);
  EXPECT_EQ(plain.coarse_tokens, 0);

  h.coarse = {3, 0, 0.1e-3, 0.2e9};  // always wrong: a pass for every token
  EXPECT_EQ(draft_work(h, five, luck).passes, 5);
}

}  // namespace
}  // namespace dmprof::simcard
