// What goes wrong is an error value, and the streamer goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/engine_streaming/fixtures.h"

namespace dmengine {
namespace {

using testing::HasSubstr;

class FileFailure : public testing::TestWithParam<std::uint32_t> {};

TEST_P(FileFailure, a_file_that_shrinks_is_an_error_and_recovers_when_it_is_back) {
  const Model model("shrinks", std::vector<std::uint64_t>(20, kBlock));
  StreamingOptions options;
  options.resident_bytes = 8 * (kBlock + 4096);
  options.prefetch_distance = GetParam();
  Tally tally;
  {
    const auto streamer = open_or_die({model.layout}, options, &tally, monotonic_clock());
    pass(streamer->weights(0), model);
    std::filesystem::resize_file(model.path, 2 * kBlock);
    int failures = 0;
    for (int i = 0; i < 3; ++i) {
      for (std::uint32_t block = 0; block < 20; ++block) {
        const auto got = streamer->weights(0).acquire(block);
        if (got) {
          EXPECT_TRUE(model.is_block(block, *got));
          streamer->weights(0).release(block);
          continue;
        }
        ++failures;
        EXPECT_EQ(got.error().kind, dmprof::ErrorKind::environment);
        EXPECT_THAT(got.error().message, HasSubstr(model.path));
      }
    }
    EXPECT_GT(failures, 10);
    model.write();
    pass(streamer->weights(0), model);
  }
  EXPECT_EQ(tally.total.prefetches_issued, tally.total.prefetches_completed + tally.total.prefetches_cancelled);
  EXPECT_EQ(tally.total.prefetches_cancelled > 0, GetParam() > 0);
}

INSTANTIATE_TEST_SUITE_P(with_and_without_prefetch, FileFailure, testing::Values(0u, 8u));

TEST(StreamerFailure, a_block_that_does_not_exist_is_an_error) {
  const Model model("nonexistent", {100, 200});
  const auto streamer = open_or_die({model.layout}, throttled(1 << 20), nullptr, monotonic_clock());
  const auto got = streamer->weights(0).acquire(2);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, dmprof::ErrorKind::usage);
  EXPECT_EQ(streamer->stats().accesses(), 0u);
}

TEST(StreamerFailure, holding_more_than_the_budget_is_an_error_not_a_deadlock) {
  const Model model("greedy", std::vector<std::uint64_t>(10, kBlock));
  const auto streamer = open_or_die({model.layout}, throttled(3 * kBlock), nullptr, monotonic_clock());
  auto& weights = streamer->weights(0);
  for (std::uint32_t block = 0; block < 3; ++block) ASSERT_TRUE(weights.acquire(block));
  const auto got = weights.acquire(3);
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().message, HasSubstr("--resident"));
  for (std::uint32_t block = 0; block < 3; ++block) weights.release(block);
  EXPECT_TRUE(weights.acquire(3));
  weights.release(3);
}

TEST(StreamerFailure, a_missing_model_file_is_an_error) {
  Model model("missing", {100});
  std::filesystem::remove(model.path);
  StreamingOptions options = throttled(1 << 20);
  EXPECT_FALSE(BlockStreamer::open({model.layout}, options));
  options.backing = {};
  EXPECT_FALSE(BlockStreamer::open({model.layout}, options));
}

TEST(StreamerFailure, a_matrix_that_cannot_be_saved_says_so) {
  const Model model("unsaved", {100});
  const auto streamer = open_or_die({model.layout}, throttled(1 << 20), nullptr, monotonic_clock());
  const auto saved = streamer->save_transitions("/nonexistent/matrix");
  ASSERT_FALSE(saved);
  EXPECT_THAT(saved.error().message, HasSubstr("/nonexistent/matrix"));
}

}  // namespace
}  // namespace dmengine
