// The engine model on a model of three operations whose times are round numbers: a target pass over n tokens takes
// 1,000 n ns, a draft pass 100 n ns, once everything is resident.
#include "samples/simcard/twin/engine_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace dmprof::twin {
namespace {

ModelProgram make_program(const std::string& name, BlockId first, double ns_per_token) {
  ModelProgram program;
  program.name = name;
  program.blocks = {{1'000, 1'000}, {1'000, 1'000}};
  program.costs = {{"embed", {{{1, 0, 1}}}}, {"qkv", {{{1, ns_per_token, 1}}}}, {"output", {{{1, 0, 1}}}}};
  program.operations = {
      {0, Operation::Kind::embed, {}}, {1, Operation::Kind::plain, {first}}, {2, Operation::Kind::output, {first + 1}}};
  program.embedding_blocks = {first + 1};
  program.embedding_share = {1};
  return program;
}

std::vector<Match> verdicts(const std::string& text) {
  std::vector<Match> matches;
  for (const char c : text) matches.push_back(c == '1' ? Match::right : c == '0' ? Match::wrong : Match::unknown);
  return matches;
}

struct Bench {
  Description description;
  Settings settings;

  explicit Bench(const std::vector<std::string>& texts, std::uint32_t prompt = 10) {
    description.target = make_program("target", 0, 1'000);
    description.link = {true, 1e9, 100, 0, 1e15, {}};
    DraftProfile draft;
    draft.program = make_program("draft", 2, 100);
    draft.acceptance = {0.5};
    for (const std::string& text : texts) {
      draft.matches.push_back(verdicts(text));
      RequestText request;
      request.prompt_tokens = prompt;
      request.output_tokens = static_cast<std::uint32_t>(text.size());
      description.requests.push_back(request);
    }
    description.drafts = {draft};
    settings.draft = "draft";
    settings.resident = 100'000;
    settings.prefetch_distance = 0;
  }

  Trace run(std::uint64_t seed = 1) {
    auto trace = simulate(description, settings, seed);
    EXPECT_TRUE(trace.has_value()) << (trace ? "" : trace.error().message);
    return trace ? *trace : Trace();
  }
};

std::vector<std::uint32_t> accepted(const Trace& trace) {
  std::vector<std::uint32_t> counts;
  for (const RowRecord& row : trace.rows) counts.push_back(row.accepted);
  return counts;
}

TEST(EngineModel, FollowsTheRecordedVerdictsAtEveryLookahead) {
  // The prompt's step gives output token 0; then chains begin at 1, as far as verdicts are right.
  Bench bench({"?1101110111"});
  bench.settings.lookahead = 3;
  // at 1: 1,1,0 -> 2 and the target's; at 4: 1,1,1 -> 3 and the target's; at 8: room for 2 drafts beside the target's
  EXPECT_EQ(accepted(bench.run()), (std::vector<std::uint32_t>{0, 2, 3, 2}));
  bench.settings.lookahead = 1;
  // chains of one token: at 1 right (2 is given with it), at 3 wrong, at 4, 6 and 8 right; for the last there is no
  // room
  EXPECT_EQ(accepted(bench.run()), (std::vector<std::uint32_t>{0, 1, 0, 1, 1, 1, 0}));
}

TEST(EngineModel, StepsTakeTheTimeOfTheirPasses) {
  Bench bench({"?111111111111111111"});
  bench.settings.lookahead = 2;
  bench.description.habits.accept_step = 7;
  bench.description.habits.between_steps = 5;
  const Trace trace = bench.run();
  ASSERT_GE(trace.steps.size(), 4U);
  const StepRecord &one = trace.steps[1], &two = trace.steps[2];
  // The draft catches up with the token before its chain and the bonus token (2), then reads its first proposal (1).
  EXPECT_EQ(two.draft_time, 300);
  EXPECT_EQ(two.verify_time, 3'000);
  EXPECT_EQ(two.duration, 3'307);
  EXPECT_EQ(two.start, one.start + one.duration + 5);
  EXPECT_EQ(two.target_tokens, 3U);
  EXPECT_FALSE(two.prefill);
}

TEST(EngineModel, EmitsExactlyTheRecordedTokens) {
  for (const std::uint32_t lookahead : {0U, 1U, 5U, 32U}) {
    Bench bench({"?1101110111", "?00000", "?"});
    bench.settings.lookahead = lookahead;
    const Trace trace = bench.run();
    ASSERT_EQ(trace.requests.size(), 3U);
    EXPECT_EQ(trace.requests[0].output_tokens, 11U);
    EXPECT_EQ(trace.requests[1].output_tokens, 6U);
    EXPECT_EQ(trace.requests[2].output_tokens, 1U);
    for (const RowRecord& row : trace.rows) EXPECT_LE(row.accepted, row.drafted);
  }
}

TEST(EngineModel, ALimitShortensTheLastDraftsAndAnEndOfTextDoesNot) {
  Bench bench({"?11"});
  bench.settings.lookahead = 5;
  Trace trace = bench.run();
  EXPECT_EQ(trace.rows.back().drafted, 1U);  // two tokens are left: one draft and the target's own
  EXPECT_EQ(trace.rows.back().cut, Cut::max_tokens);
  bench.description.requests[0].ended_by_limit = false;
  trace = bench.run();
  EXPECT_EQ(trace.rows.back().drafted, 5U);
  EXPECT_EQ(trace.rows.back().accepted, 2U);
  EXPECT_EQ(trace.rows.back().emitted, 2U);  // none after the end of the text
  EXPECT_EQ(trace.rows.back().cut, Cut::end_of_text);
}

TEST(EngineModel, PromptsGoInChunks) {
  Bench bench({"?"}, 150);
  const Trace trace = bench.run();
  ASSERT_EQ(trace.steps.size(), 3U);
  EXPECT_EQ(trace.steps[0].target_tokens, 64U);
  EXPECT_EQ(trace.steps[2].target_tokens, 22U);
  EXPECT_TRUE(trace.steps[2].prefill);
  EXPECT_EQ(trace.rows.size(), 1U);
}

TEST(EngineModel, BatchesShareAStepAndTheConcurrencyLimitHoldsThemBack) {
  Bench bench({"?00000", "?00000"});
  bench.settings.batch = 2;
  Trace trace = bench.run();
  EXPECT_EQ(trace.steps.back().batch, 2U);
  EXPECT_EQ(trace.requests[1].scheduled, 0);
  bench.settings.max_concurrent = 1;
  trace = bench.run();
  EXPECT_EQ(trace.steps.front().batch, 1U);
  EXPECT_EQ(trace.steps.front().waiting, 1U);
  EXPECT_GE(trace.requests[1].scheduled, trace.requests[0].end);
}

TEST(EngineModel, WaitsForARequestThatComesLater) {
  Bench bench({"?00", "?00"});
  bench.description.requests[1].arrival = 1'000'000'000;
  const Trace trace = bench.run();
  EXPECT_EQ(trace.requests[1].scheduled, 1'000'000'000);
}

TEST(EngineModel, BaselineWindowsRunPlainAndAreMarked) {
  Bench bench({"?" + std::string(40, '0')});
  bench.settings.baseline_every = 3;
  const Trace trace = bench.run();
  std::size_t plain = 0;
  for (const RowRecord& row : trace.rows) {
    plain += row.cut == Cut::baseline;
    if (row.cut == Cut::baseline) {
      EXPECT_EQ(row.drafted, 0U);
    }
  }
  EXPECT_EQ(plain, 40U / 7 * 4 + 2);  // windows of 4 behind every 3 steps: 40 = 5 x 7 + 5
}

TEST(EngineModel, UnknownVerdictsAreDrawnGivenTheOneBefore) {
  Bench bench({"?" + std::string(200, '?')});
  bench.description.drafts[0].after_right = 1;
  EXPECT_EQ(bench.run().rows[1].accepted, bench.settings.lookahead);
  bench.description.drafts[0].after_right = 0;
  bench.description.drafts[0].after_wrong = 0;
  const Trace trace = bench.run();
  for (const RowRecord& row : trace.rows) EXPECT_EQ(row.accepted, 0U);
}

TEST(EngineModel, SampledTextIsDrawnFromTheCurveByPosition) {
  Bench bench({"?" + std::string(2'000, '1')});
  bench.description.greedy = false;
  bench.description.drafts[0].acceptance = {1, 0.5, 0};
  bench.settings.lookahead = 5;
  double rows = 0, second = 0;
  for (const RowRecord& row : bench.run().rows) {
    if (row.cut != Cut::whole || row.drafted == 0) continue;
    EXPECT_GE(row.accepted, 1U);
    EXPECT_LE(row.accepted, 2U);
    ++rows;
    second += row.accepted == 2;
  }
  EXPECT_NEAR(second / rows, 0.5, 0.06);
}

TEST(EngineModel, BatchesAboveAPassAreCutIntoSeveral) {
  Bench bench(std::vector<std::string>(20, "?" + std::string(10, '0')));
  bench.settings.batch = 20;
  bench.settings.prefill_chunk = 1'000;
  const Trace trace = bench.run();
  EXPECT_EQ(trace.steps[0].target_tokens, 200U);
  // Four passes over 64, 64, 64 and 8 tokens ask for the one matrix block each, every token for its embedding.
  EXPECT_EQ(
      std::count_if(trace.accesses.begin(), trace.accesses.end(), [](auto& a) { return a.step == 1 && a.block == 0; }),
      4);
}

TEST(EngineModel, RefusesWhatItCannotRun) {
  Bench bench({"?0"});
  const auto error = [&] {
    const auto trace = simulate(bench.description, bench.settings, 1);
    EXPECT_FALSE(trace.has_value());
    return trace ? Error() : trace.error();
  };
  bench.settings.draft = "another";
  EXPECT_EQ(error().kind, ErrorKind::cannot_answer);
  bench.settings.draft = "draft";
  bench.settings.resident = 999;
  EXPECT_EQ(error().kind, ErrorKind::usage);
  bench.settings.resident = 100'000;
  bench.settings.prefill_chunk = 0;
  EXPECT_EQ(error().kind, ErrorKind::usage);
  bench.settings.prefill_chunk = 64;
  bench.description.requests[0].output_tokens = 0;
  EXPECT_EQ(error().kind, ErrorKind::bad_input);
  bench.description.requests.clear();
  EXPECT_EQ(error().kind, ErrorKind::bad_input);
}

}  // namespace
}  // namespace dmprof::twin
