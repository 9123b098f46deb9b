// Recordings whose fit is known exactly.
#include "samples/simcard/fit/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/simcard_fit/engine_recording.h"

namespace dmprof::twin {
namespace {

using test::EngineRecording;
using test::sound_recording;
using testing::Each;
using testing::ElementsAre;

Fit fitted(std::vector<NamedRecording> recordings) {
  auto result = fit(recordings);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  return result ? *result : Fit();
}

const CostCurve& cost(const ModelProgram& program, const std::string& name) {
  static const CostCurve none;
  for (const NamedCost& each : program.costs) {
    if (each.name == name) return each.curve;
  }
  ADD_FAILURE() << "no cost of " << name;
  return none;
}

std::string text_of(const std::vector<Match>& matches) {
  std::string text;
  for (const Match match : matches) text += match == Match::unknown ? '?' : match == Match::right ? '1' : '0';
  return text;
}

TEST(Fit, FindsTheProgramOfBothModels) {
  const Fit fit = fitted({sound_recording().take()});
  const ModelProgram& target = fit.description.target;
  ASSERT_EQ(target.operations.size(), 3U);
  EXPECT_EQ(target.operations[0].kind, Operation::Kind::embed);
  EXPECT_THAT(target.operations[1].blocks, ElementsAre(0, 1));
  EXPECT_EQ(target.operations[2].kind, Operation::Kind::output);
  EXPECT_THAT(target.operations[2].blocks, ElementsAre(2, 3));
  ASSERT_EQ(target.blocks.size(), 4U);
  EXPECT_EQ(target.blocks[3].bytes, 1'003U);
  EXPECT_EQ(target.blocks[3].memory, 4'096U);
  EXPECT_THAT(target.embedding_blocks, ElementsAre(2));
  const ModelProgram& draft = fit.description.drafts.at(0).program;
  EXPECT_EQ(draft.name, "small.gguf");
  ASSERT_EQ(draft.blocks.size(), 2U);
  EXPECT_EQ(draft.blocks[0].bytes, 1'004U);
  EXPECT_THAT(draft.operations[1].blocks, ElementsAre(4));
}

TEST(Fit, FindsTheCostOfEveryOperationWithoutStallsAndPlanning) {
  const Fit fit = fitted({sound_recording().take()});
  for (const std::uint32_t tokens : {1U, 2U, 4U, 10U, 64U}) {
    EXPECT_DOUBLE_EQ(cost(fit.description.target, "qkv").at(tokens), 100 + 50.0 * tokens) << tokens;
    EXPECT_DOUBLE_EQ(cost(fit.description.target, "embed").at(tokens), 10.0 * tokens) << tokens;
    EXPECT_DOUBLE_EQ(cost(fit.description.target, "output").at(tokens), 30.0 * tokens) << tokens;
    EXPECT_DOUBLE_EQ(cost(fit.description.drafts[0].program, "qkv").at(tokens), 20.0 * tokens) << tokens;
  }
  EXPECT_THAT(fit.description.target.noise.means, Each(1));
  EXPECT_THAT(fit.description.drafts[0].program.noise.means, Each(1));
}

TEST(Fit, FindsTheHabits) {
  const Habits habits = fitted({sound_recording().take()}).description.habits;
  EXPECT_DOUBLE_EQ(habits.plan, EngineRecording::kPlan);
  EXPECT_EQ(habits.plan_distance, 4U);
  EXPECT_THAT(habits.miss_overshoot.means, Each(EngineRecording::kMissOvershoot));
  EXPECT_DOUBLE_EQ(habits.accept_step, EngineRecording::kAccept);
  EXPECT_DOUBLE_EQ(habits.between_steps, EngineRecording::kBetween);
}

TEST(Fit, FindsTheLinkAndWhatPassesTakeBesideTheirOperations) {
  const Description description = fitted({sound_recording().take()}).description;
  EXPECT_TRUE(description.link.imitated);
  EXPECT_DOUBLE_EQ(description.link.bytes_per_second, 1e9);
  EXPECT_EQ(description.link.latency, 2'000);
  EXPECT_DOUBLE_EQ(description.target.pass_other, EngineRecording::kPassOther);
  EXPECT_DOUBLE_EQ(description.drafts[0].program.pass_other, EngineRecording::kPassOther);
}

TEST(Fit, ALinkThatIsNoImitationIsALineThroughItsTransfers) {
  EngineRecording recording = sound_recording();
  recording.knob("backing", "file");
  recording.raw().transfers.clear();
  for (int i = 0; i < 20; ++i) {
    for (const std::uint64_t bytes : {1'000U, 3'000U}) {
      Transfer transfer;
      transfer.track = 1;
      transfer.block = 99;
      transfer.useful_bytes = transfer.bytes = bytes;
      transfer.duration = static_cast<TimeNs>(500 + bytes / 2 + (i == 0 ? 1'000 : 0));
      recording.raw().transfers.push_back(transfer);
    }
  }
  const Link link = fitted({recording.take()}).description.link;
  EXPECT_FALSE(link.imitated);
  EXPECT_NEAR(link.move_base, 500, 1e-6);
  EXPECT_NEAR(link.move_bytes_per_second, 2e9, 1);
  EXPECT_NEAR(link.excess.mean(), 50, 1e-6);  // two of forty took 1,000 longer
}

TEST(Fit, FindsVerdictsTextsAndRequests) {
  const Fit fit = fitted({sound_recording().take()});
  ASSERT_EQ(fit.description.requests.size(), 2U);
  EXPECT_EQ(fit.description.requests[1].prompt_tokens, 70U);
  EXPECT_EQ(fit.description.requests[1].output_tokens, 11U);
  EXPECT_TRUE(fit.description.greedy);
  // Chains of 3 from 1: 110 -> 1,1,0; from 4: 111 and the token behind it unknown; from 8: 111, unknown; at 12 there is
  // room for one: 1, and the last one is the target's.
  EXPECT_EQ(text_of(fit.description.drafts[0].matches[0]), "?110111?111?1?");
  // From 1: 0; from 2: 0; from 3: 111, unknown; from 7: 111, and the last token is the target's.
  EXPECT_EQ(text_of(fit.description.drafts[0].matches[1]), "?00111?111?");
  for (const RequestText& text : fit.description.requests) {
    for (std::size_t i = 0; i + 1 < text.embedding.size(); ++i) EXPECT_EQ(text.embedding[i], 2) << i;
    EXPECT_EQ(text.embedding.back(), -1);  // nobody reads the last token
  }
}

TEST(Fit, CountsAcceptanceByPositionAndLength) {
  const DraftCurve curve = fitted({sound_recording().take()}).curves.at(0);
  EXPECT_EQ(curve.parameter_bytes, 1'004U + 1'005U);
  const auto& cells = curve.counts.by_position;
  ASSERT_EQ(cells.size(), 3U);
  // Chains: 110, 111, 111, 1 and 0, 0, 111, 111.
  EXPECT_EQ(cells[0].reached, 8U);
  EXPECT_EQ(cells[0].accepted, 6U);
  EXPECT_EQ(cells[1].reached, 5U);
  EXPECT_EQ(cells[1].accepted, 5U);
  EXPECT_EQ(cells[2].reached, 5U);
  EXPECT_EQ(cells[2].accepted, 4U);
  EXPECT_THAT(curve.counts.length_from, ElementsAre(0, 64));
  EXPECT_EQ(curve.counts.by_length[0][0].reached, 4U);
  EXPECT_EQ(curve.counts.by_length[1][0].reached, 4U);
}

TEST(Fit, UnknownVerdictsAreGivenTheOneBeforeThem) {
  const auto persistence =
      persistence_of({{Match::right, Match::right, Match::wrong, Match::right, Match::unknown, Match::wrong}});
  EXPECT_DOUBLE_EQ(persistence.after_right, 0.5);
  EXPECT_DOUBLE_EQ(persistence.after_wrong, 1);
  const auto one_side = persistence_of({{Match::right, Match::wrong}});
  EXPECT_DOUBLE_EQ(one_side.after_wrong, one_side.after_right);
  EXPECT_DOUBLE_EQ(persistence_of({}).after_right, 0);
}

TEST(Fit, TheTwinAcceptsWhatWasRecorded) {
  const FittedRecording base = fitted({sound_recording().take()}).recordings.at(0);
  ASSERT_TRUE(base.recorded.contains("acceptance_length"));
  EXPECT_DOUBLE_EQ(base.simulated.at("acceptance_length"), base.recorded.at("acceptance_length"));
  EXPECT_EQ(base.settings.lookahead, 3U);
  EXPECT_EQ(base.settings.draft, "small.gguf");
}

TEST(Fit, ARecordingWithALongerLookaheadFillsWhatWasUnknown) {
  EngineRecording longer;
  longer.knob("lookahead", "8");
  longer.run_request(10, "?1101110111011", 8);
  longer.miss_next();
  longer.run_request(70, "?0011111110", 8);
  const Fit fit = fitted({sound_recording().take("a"), longer.take("b")});
  EXPECT_EQ(text_of(fit.description.drafts.at(0).matches[0]), "?110111011101?");
  EXPECT_EQ(text_of(fit.description.drafts.at(0).matches[1]), "?001111111?");
  EXPECT_EQ(fit.recordings.size(), 2U);
  EXPECT_EQ(fit.base().lookahead, 3U);
}

TEST(Fit, AnotherDraftIsAnotherProfile) {
  EngineRecording other = sound_recording();
  other.knob("draft", "tiny.gguf");
  const Fit fit = fitted({sound_recording().take("a"), other.take("b")});
  ASSERT_EQ(fit.description.drafts.size(), 2U);
  EXPECT_EQ(fit.description.drafts[1].program.name, "tiny.gguf");
  ASSERT_EQ(fit.curves.size(), 2U);
}

TEST(Fit, WhatBeganBeforeTheRecordingIsLeftOut) {
  EngineRecording recording = sound_recording();
  auto& kernels = recording.raw().kernels;
  kernels.erase(kernels.begin());  // the first pass lost its embedding
  const Fit fit = fitted({recording.take()});
  EXPECT_DOUBLE_EQ(cost(fit.description.drafts.at(0).program, "qkv").at(3), 60);
}

}  // namespace
}  // namespace dmprof::twin
