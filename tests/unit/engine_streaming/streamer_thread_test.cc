// Threads: shutdown at any moment, several consumers, knobs turned meanwhile. What is checked here is mostly that the
// sanitizers stay quiet and nothing hangs.
#include <gtest/gtest.h>

#include "tests/unit/engine_streaming/fixtures.h"

namespace dmengine {
namespace {

using dmprof::cachemodel::PolicyKind;

TEST(StreamerThreads, shuts_down_while_prefetches_are_queued_and_in_flight) {
  const Model model("shutdown", std::vector<std::uint64_t>(30, kBlock));
  for (std::uint32_t stop_at = 0; stop_at < 30; ++stop_at) {
    Tally tally;
    {
      StillClock clock;  // never reaches the end of a prefetch's transfer by itself
      const auto streamer = open_or_die({model.layout}, throttled(14 * kBlock, 1e6, 5'000'000), &tally, clock);
      pass(streamer->weights(0), model);
      for (std::uint32_t block = 0; block < stop_at; ++block) {
        ASSERT_TRUE(streamer->weights(0).acquire(block));
        streamer->weights(0).release(block);
      }
    }
    EXPECT_EQ(tally.total.prefetches_issued, tally.total.prefetches_completed + tally.total.prefetches_cancelled);
  }
}

TEST(StreamerThreads, a_slow_link_does_not_hold_up_shutdown) {
  const Model model("slow", std::vector<std::uint64_t>(3, 100));
  const std::string path = temporary_path("slow_matrix");
  {
    std::ofstream out(path);
    out << "dmprof-transitions 1 2\n- 0 1 10\n- 1 2 10\n- 2 0 10\nend\n";
  }
  StreamingOptions options =
      throttled(1 << 20, 1e3, 0);  // 100 bytes take 0.1 s, the two prefetches behind them the same
  options.load_transitions = path;
  const auto streamer = open_or_die({model.layout}, options, nullptr, monotonic_clock());
  ASSERT_TRUE(streamer->weights(0).acquire(0));
  streamer->weights(0).release(0);
  EXPECT_GE(streamer->stats().prefetches_issued, 1u);
  std::filesystem::remove(path);
}

TEST(StreamerThreads, several_consumers_and_a_restless_operator) {
  const Model target("several_t", std::vector<std::uint64_t>(25, kBlock));
  const Model draft("several_d", std::vector<std::uint64_t>(6, 3000));
  Tally tally;
  {
    StreamingOptions options = throttled(24 * kBlock, 1e11, 1'000);
    ASSERT_EQ(options.max_held, 4u);  // over all consumers
    const auto streamer = open_or_die({target.layout, draft.layout}, options, &tally, monotonic_clock());
    std::atomic<bool> stop{false};
    std::vector<std::thread> consumers;
    for (int i = 0; i < 2; ++i) {
      consumers.emplace_back([&] {
        for (int k = 0; k < 30; ++k) pass(streamer->weights(0), target, 1);
      });
      consumers.emplace_back([&] {
        for (int k = 0; k < 80; ++k) pass(streamer->weights(1), draft, 1);
      });
    }
    std::thread operating([&] {
      std::uint64_t i = 0;
      while (!stop) {
        streamer->set_policy(static_cast<PolicyKind>(i % 3));
        streamer->set_prefetch_distance(static_cast<std::uint32_t>(i % 20));
        streamer->set_max_outstanding(static_cast<std::uint32_t>(i % 6));
        (void)streamer->set_resident_bytes((20 + i % 10) * kBlock);
        (void)streamer->stats();
        (void)streamer->schedule(streamer->predict_path());
        ++i;
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
    });
    for (std::thread& each : consumers) each.join();
    stop = true;
    operating.join();
    EXPECT_EQ(streamer->stats().accesses(), 2u * (30 * 25 + 80 * 6));
  }
  EXPECT_EQ(tally.total.prefetches_issued, tally.total.prefetches_completed + tally.total.prefetches_cancelled);
}

}  // namespace
}  // namespace dmengine
