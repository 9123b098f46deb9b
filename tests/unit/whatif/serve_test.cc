// The queue model against closed forms.
#include "analyzers/whatif/serve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace dmprof::whatif {
namespace {

StepCosts costs(double verify, double draft, double other = 0) {
  StepCosts result;
  result.verify.add(1, verify), result.draft.add(1, draft);
  result.other = other;
  return result;
}

Load arrivals(std::size_t requests, double apart, std::uint32_t tokens) {
  Load load;
  for (std::size_t i = 0; i < requests; ++i) load.requests.push_back({static_cast<double>(i) * apart, 0, tokens});
  return load;
}

TEST(Serve, without_speculation_a_token_takes_a_step) {
  Load load = arrivals(1, 0, 100);
  const Served served = serve(load, costs(10, 0, 2), {}, 1);
  EXPECT_DOUBLE_EQ(served.tokens, 100);
  EXPECT_DOUBLE_EQ(served.wall, 1200);
  EXPECT_DOUBLE_EQ(served.latencies.at(0), 1200);
}

TEST(Serve, emits_what_the_acceptance_promises) {
  Load load = arrivals(1, 0, 200'000);
  Serving serving;
  serving.acceptance = {0.8, 0.6, 0.5};
  const Served served = serve(load, costs(10, 1), serving, 1);
  EXPECT_NEAR(served.tokens / served.rows, 1 + 0.8 + 0.48 + 0.24, 0.02);
  EXPECT_NEAR(served.throughput(), 2.52e9 / 13, 0.02e9);
}

TEST(Serve, a_draft_never_runs_past_the_end_of_a_request) {
  Load load = arrivals(50, 0, 3);
  load.users = 1;
  Serving serving;
  serving.acceptance = {1, 1, 1, 1, 1};
  const Served served = serve(load, costs(10, 1), serving, 1);
  EXPECT_DOUBLE_EQ(served.tokens, 150);
  EXPECT_EQ(served.steps.size(), 50u);
  EXPECT_DOUBLE_EQ(served.steps[0], 12);  // two drafts and the bonus token
}

TEST(Serve, a_limit_makes_requests_wait_and_a_closed_load_does_not) {
  const Load load = arrivals(4, 0, 10);
  Serving serving;
  serving.limit = 1;
  const Served one = serve(load, costs(10, 0), serving, 1);
  ASSERT_EQ(one.latencies.size(), 4u);
  EXPECT_DOUBLE_EQ(one.latencies[3], 400);
  EXPECT_DOUBLE_EQ(serve(load, costs(10, 0), {}, 1).latencies[3], 100);
  Load closed = load;
  closed.users = 1;
  const Served alone = serve(closed, costs(10, 0), {}, 1);
  EXPECT_DOUBLE_EQ(*std::max_element(alone.latencies.begin(), alone.latencies.end()), 100);
}

TEST(Serve, pauses_between_arrivals_count_as_wall_time_and_as_idle) {
  const Served served = serve(arrivals(3, 1000, 10), costs(10, 0), {}, 1);
  EXPECT_DOUBLE_EQ(served.wall, 2100);
  EXPECT_DOUBLE_EQ(served.idle, 1800);
}

TEST(Serve, the_same_seed_gives_the_same_and_prompts_hold_everybody_up) {
  Load load = arrivals(20, 7, 30);
  for (ServedRequest& request : load.requests) request.prompt = 100;
  StepCosts with_prompts = costs(10, 1);
  with_prompts.prefill.add(100, 50);
  Serving serving;
  serving.acceptance = {0.7, 0.7};
  const Served a = serve(load, with_prompts, serving, 3), b = serve(load, with_prompts, serving, 3);
  EXPECT_EQ(a.gaps, b.gaps);
  EXPECT_NE(a.gaps, serve(load, with_prompts, serving, 4).gaps);
  const double slowest = *std::max_element(a.latencies.begin(), a.latencies.end());
  const Served without = serve(load, costs(10, 1), serving, 3);
  EXPECT_GT(slowest, *std::max_element(without.latencies.begin(), without.latencies.end()));
}

TEST(Serve, nothing_to_serve_is_no_crash) {
  const Served served = serve({}, costs(10, 1), {}, 1);
  EXPECT_EQ(served.throughput(), 0);
  Load empty = arrivals(2, 5, 1);
  EXPECT_DOUBLE_EQ(serve(empty, {}, {}, 1).tokens, 2);  // no costs known: no time passes
}

}  // namespace
}  // namespace dmprof::whatif
