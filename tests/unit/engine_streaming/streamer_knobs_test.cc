// What can be changed while the engine runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/engine_streaming/fixtures.h"

namespace dmengine {
namespace {

using dmprof::cachemodel::PolicyKind;
using testing::HasSubstr;

class Knobs : public testing::Test {
 protected:
  Knobs() : model("knobs", std::vector<std::uint64_t>(30, kBlock)) {
    StreamingOptions options = throttled(15 * kBlock);
    options.policy = PolicyKind::lru;
    streamer = open_or_die({model.layout}, options, &tally, clock);
  }
  std::uint64_t transfers_of_a_pass() {
    const std::uint64_t before = streamer->stats().transfers;
    pass(streamer->weights(0), model);
    return streamer->stats().transfers - before;
  }
  Model model;
  StillClock clock;
  Tally tally;
  std::unique_ptr<BlockStreamer> streamer;
};

TEST_F(Knobs, a_larger_budget_ends_the_transfers) {
  for (int i = 0; i < 3; ++i) pass(streamer->weights(0), model);
  ASSERT_TRUE(streamer->set_resident_bytes(30 * kBlock));
  EXPECT_EQ(streamer->resident_bytes(), 30 * kBlock);
  for (int i = 0; i < 2; ++i) pass(streamer->weights(0), model);
  EXPECT_EQ(transfers_of_a_pass(), 0u);
}

TEST_F(Knobs, a_smaller_budget_works_and_too_small_a_one_names_the_least) {
  pass(streamer->weights(0), model);
  while (!streamer->set_resident_bytes(8 * kBlock)) clock.advance(1'000'000);
  pass(streamer->weights(0), model);
  const auto refused = streamer->set_resident_bytes(2 * kBlock);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, dmprof::ErrorKind::usage);
  EXPECT_THAT(refused.error().message, HasSubstr(std::to_string(4 * kBlock)));
  EXPECT_EQ(streamer->resident_bytes(), 8 * kBlock);
}

TEST_F(Knobs, another_policy_takes_over_what_is_resident) {
  for (int i = 0; i < 3; ++i) pass(streamer->weights(0), model);
  EXPECT_GE(transfers_of_a_pass(), 29u);
  streamer->set_policy(PolicyKind::prediction);
  for (int i = 0; i < 3; ++i) pass(streamer->weights(0), model);
  EXPECT_LE(transfers_of_a_pass(), 25u);
}

TEST_F(Knobs, a_distance_of_0_ends_prefetching) {
  for (int i = 0; i < 3; ++i) pass(streamer->weights(0), model);
  EXPECT_GT(streamer->stats().prefetches_issued, 0u);
  streamer->set_prefetch_distance(0);
  pass(streamer->weights(0), model);
  const std::uint64_t before = streamer->stats().prefetches_issued;
  for (int i = 0; i < 3; ++i) pass(streamer->weights(0), model);
  EXPECT_EQ(streamer->stats().prefetches_issued, before);
}

}  // namespace
}  // namespace dmengine
