// The bytes are right, whatever the policy, the backing store and the budget.
#include "samples/engine/streaming/streamer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/engine_streaming/fixtures.h"

namespace dmengine {
namespace {

using dmprof::cachemodel::PolicyKind;
using testing::HasSubstr;

std::vector<std::uint64_t> mixed_sizes() {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t i = 0; i < 30; ++i) sizes.push_back(1000 + (i * 7919) % 12000);
  return sizes;
}

struct Setting {
  PolicyKind policy;
  bool throttle;
  std::uint64_t resident;
  std::uint32_t distance;
};

class Streaming : public testing::TestWithParam<Setting> {};

TEST_P(Streaming, every_pass_sees_the_files_bytes) {
  const Model target("target", mixed_sizes());
  const Model draft("draft", {3000, 4096, 5000, 100});
  StreamingOptions options = throttled(GetParam().resident, 1e12, 0);
  if (!GetParam().throttle) options.backing = {};
  options.policy = GetParam().policy;
  options.prefetch_distance = GetParam().distance;
  Tally tally;
  const auto streamer = open_or_die({target.layout, draft.layout}, options, &tally, monotonic_clock());
  for (int step = 0; step < 6; ++step) {
    for (int k = 0; k < 3; ++k) pass(streamer->weights(1), draft);
    pass(streamer->weights(0), target);
  }
  EXPECT_EQ(streamer->stats().accesses(), 6u * (3 * 4 + 30));
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const PolicyKind policy : {PolicyKind::lru, PolicyKind::lfu, PolicyKind::prediction}) {
    for (const bool throttle : {false, true}) {
      for (const std::uint64_t resident : {20480u, 40000u, 120000u, 10000000u}) {
        for (const std::uint32_t distance : {0u, 3u, 40u}) all.push_back({policy, throttle, resident, distance});
      }
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(settings, Streaming, testing::ValuesIn(settings()), [](const auto& test) {
  return std::string(name_of(test.param.policy)) + (test.param.throttle ? "_throttle_" : "_file_") +
         std::to_string(test.param.resident) + "_ahead_" + std::to_string(test.param.distance);
});

TEST(Streamer, numbers_the_blocks_of_both_models_in_one_space) {
  const Model target("ids_t", {100, 200, 300});
  const Model draft("ids_d", {50, 60});
  const auto streamer = open_or_die({target.layout, draft.layout}, throttled(1 << 20), nullptr, monotonic_clock());
  EXPECT_EQ(streamer->blocks(), 5u);
  EXPECT_EQ(streamer->block_id(0, 2), 2u);
  EXPECT_EQ(streamer->block_id(1, 0), 3u);
  EXPECT_EQ(streamer->block_bytes(4), 60u);
}

TEST(Streamer, names_the_least_budget_when_given_less) {
  const Model model("least", {5000, 9000});
  const auto streamer = BlockStreamer::open({model.layout}, throttled(8192));
  ASSERT_FALSE(streamer);
  EXPECT_EQ(streamer.error().kind, dmprof::ErrorKind::usage);
  EXPECT_THAT(streamer.error().message, HasSubstr("12288"));
  EXPECT_TRUE(BlockStreamer::open({model.layout}, throttled(12288)));
}

TEST(Streamer, needs_a_model) {
  EXPECT_FALSE(BlockStreamer::open({}, throttled(1 << 20)));
  const Model empty("empty", {});
  EXPECT_FALSE(BlockStreamer::open({empty.layout}, throttled(1 << 20)));
}

TEST(Streamer, holds_no_more_blocks_at_once_than_half_the_budget) {
  const Model model("held", std::vector<std::uint64_t>(10, kBlock));
  EXPECT_EQ(open_or_die({model.layout}, throttled(kBlock), nullptr, monotonic_clock())->weights(0).max_held(), 1u);
  EXPECT_EQ(open_or_die({model.layout}, throttled(5 * kBlock), nullptr, monotonic_clock())->weights(0).max_held(), 2u);
  EXPECT_EQ(open_or_die({model.layout}, throttled(90 * kBlock), nullptr, monotonic_clock())->weights(0).max_held(), 4u);
}

TEST(Streamer, says_what_it_streams_from) {
  const Model model("describe", {100});
  EXPECT_EQ(
      open_or_die({model.layout}, throttled(1 << 20, 2e9, 20'000), nullptr, monotonic_clock())->describe_backing(),
      "memory behind an imitated link of 2 GB/s and 20 us");
  StreamingOptions options = throttled(1 << 20);
  options.backing = {};
  EXPECT_THAT(open_or_die({model.layout}, options, nullptr, monotonic_clock())->describe_backing(), HasSubstr("file"));
}

TEST(Streamer, a_saved_matrix_predicts_from_the_first_pass_on) {
  const Model model("saved", std::vector<std::uint64_t>(20, kBlock));
  const std::string path = temporary_path("matrix");
  StillClock clock;
  StreamingOptions options = throttled(10 * kBlock);
  {
    const auto streamer = open_or_die({model.layout}, options, nullptr, clock);
    for (int i = 0; i < 3; ++i) pass(streamer->weights(0), model);
    EXPECT_EQ(streamer->stats().predicted_right, 39u);
    ASSERT_TRUE(streamer->save_transitions(path));
  }
  options.load_transitions = path;
  const auto streamer = open_or_die({model.layout}, options, nullptr, clock);
  pass(streamer->weights(0), model);
  EXPECT_EQ(streamer->stats().predicted_right, 19u);
  EXPECT_GT(streamer->stats().prefetches_issued, 0u);
  std::filesystem::remove(path);
  EXPECT_FALSE(BlockStreamer::open({model.layout}, options));
}

TEST(Streamer, ignores_blocks_that_only_a_foreign_matrix_knows) {
  const Model model("foreign", std::vector<std::uint64_t>(4, kBlock));
  const std::string path = temporary_path("foreign_matrix");
  {
    std::ofstream out(path);
    out << "dmprof-transitions 1 2\n- 0 9999999 1000\n- 9999999 3 1000\nend\n";
  }
  StreamingOptions options = throttled(3 * kBlock);
  options.load_transitions = path;
  const auto streamer = open_or_die({model.layout}, options, nullptr, monotonic_clock());
  for (int i = 0; i < 3; ++i) pass(streamer->weights(0), model);
  std::filesystem::remove(path);
}

TEST(Streamer, the_stages_can_be_run_by_hand) {
  const Model model("stages", std::vector<std::uint64_t>(20, kBlock));
  StillClock clock;
  Tally tally;
  StreamingOptions options = throttled(12 * kBlock);
  options.policy = PolicyKind::lru;
  const auto streamer = open_or_die({model.layout}, options, &tally, clock);
  streamer->set_max_outstanding(0);
  for (int i = 0; i < 2; ++i) pass(streamer->weights(0), model);
  EXPECT_EQ(streamer->stats().prefetches_issued, 0u);
  const auto path = streamer->predict_path();
  ASSERT_EQ(path.size(), 8u);
  EXPECT_EQ(path[0].block, 0u);
  streamer->set_max_outstanding(3);
  EXPECT_EQ(streamer->schedule(path), 3u);
  EXPECT_EQ(streamer->stats().prefetches_issued, 3u);
  EXPECT_GT(tally.predictions, 0u);
  EXPECT_EQ(tally.predictions, tally.schedulings);
}

}  // namespace
}  // namespace dmengine
