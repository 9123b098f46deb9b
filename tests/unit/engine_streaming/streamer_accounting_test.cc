// Counters, callbacks and virtual time agree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "samples/engine/streaming/outbox.h"
#include "tests/unit/engine_streaming/fixtures.h"

namespace dmengine {
namespace {

using dmprof::cachemodel::PolicyKind;

void expect_equal(const StreamingStats& stats, const StreamingStats& told) {
  EXPECT_EQ(stats.hits, told.hits);
  EXPECT_EQ(stats.late, told.late);
  EXPECT_EQ(stats.misses, told.misses);
  EXPECT_EQ(stats.first_uses_of_prefetched, told.first_uses_of_prefetched);
  EXPECT_EQ(stats.predicted_right, told.predicted_right);
  EXPECT_EQ(stats.predicted_wrong, told.predicted_wrong);
  EXPECT_EQ(stats.predicted_none, told.predicted_none);
  EXPECT_EQ(stats.pollution_misses, told.pollution_misses);
  EXPECT_EQ(stats.wait_ns, told.wait_ns);
  EXPECT_EQ(stats.prefetches_issued, told.prefetches_issued);
  EXPECT_EQ(stats.prefetches_completed, told.prefetches_completed);
  EXPECT_EQ(stats.prefetches_evicted_unused, told.prefetches_evicted_unused);
  EXPECT_EQ(stats.prefetches_cancelled, told.prefetches_cancelled);
  EXPECT_EQ(stats.prefetches_displaced, told.prefetches_displaced);
  EXPECT_EQ(stats.transfers, told.transfers);
  EXPECT_EQ(stats.transfer_bytes, told.transfer_bytes);
  EXPECT_EQ(stats.transfer_ns, told.transfer_ns);
}

// The stats once no prefetch is queued or in flight.
StreamingStats quiet(const BlockStreamer& streamer, StillClock& clock) {
  for (;;) {
    const StreamingStats now = streamer.stats();
    if (now.prefetches_issued == now.prefetches_completed + now.prefetches_cancelled) return now;
    clock.advance(1'000'000);
    std::this_thread::yield();
  }
}

TEST(Accounting, every_counter_equals_its_callbacks) {
  const Model target("acc_t", std::vector<std::uint64_t>(40, kBlock));
  const Model draft("acc_d", std::vector<std::uint64_t>(5, 4000));
  for (const PolicyKind policy : {PolicyKind::lru, PolicyKind::lfu, PolicyKind::prediction}) {
    StillClock clock;
    Tally tally;
    StreamingOptions options = throttled(16 * kBlock);
    options.policy = policy;
    options.prefetch_distance = 12;
    StreamingStats last;
    {
      const auto streamer = open_or_die({target.layout, draft.layout}, options, &tally, clock);
      for (int step = 0; step < 8; ++step) {
        for (int k = 0; k < 4; ++k) pass(streamer->weights(1), draft);
        pass(streamer->weights(0), target);
      }
      const StreamingStats stats = streamer->stats();
      EXPECT_EQ(stats.accesses(), 8u * (4 * 5 + 40));
      EXPECT_EQ(stats.predicted_right + stats.predicted_wrong + stats.predicted_none, stats.accesses());
      EXPECT_LE(stats.pollution_misses, stats.misses);
      EXPECT_LE(stats.first_uses_of_prefetched + stats.prefetches_evicted_unused, stats.prefetches_issued);
      EXPECT_GE(stats.predicted_right, stats.accesses() * 8 / 10);
      streamer->set_max_outstanding(0);  // nothing new is issued; what is under way comes to its end
      last = quiet(*streamer, clock);
    }
    // With the streamer gone every prefetch has ended one way or the other, and everything was told.
    EXPECT_EQ(tally.total.prefetches_issued, tally.total.prefetches_completed + tally.total.prefetches_cancelled);
    EXPECT_EQ(tally.accesses.size(), 8u * (4 * 5 + 40));
    expect_equal(last, tally.total);
  }
}

TEST(Accounting, an_access_tells_the_memory_that_the_cache_counts_for_the_block) {
  const Model model("padded", std::vector<std::uint64_t>{4000, kBlock, kBlock + 1, 100, 5000});
  for (const bool from_file : {false, true}) {
    StillClock clock;
    Tally tally;
    StreamingOptions options = throttled(16 * kBlock);
    if (from_file) options.backing = {};
    {
      const auto streamer = open_or_die({model.layout}, options, &tally, clock);
      pass(streamer->weights(0), model);
    }
    ASSERT_EQ(tally.accesses.size(), 5u);
    for (const StreamAccess& access : tally.accesses) {
      EXPECT_EQ(access.memory % kBufferAlignment, 0u);
      EXPECT_GE(access.memory, access.bytes);
      EXPECT_LT(access.memory, access.bytes + 2 * kBufferAlignment);
    }
    if (!from_file) {
      EXPECT_EQ(tally.accesses[0].memory, 4096u);
    }
  }
}

TEST(Accounting, the_stats_equal_the_callbacks_when_all_is_quiet) {
  const Model model("quiet", std::vector<std::uint64_t>(30, kBlock));
  StillClock clock;
  Tally tally;
  auto streamer = open_or_die({model.layout}, throttled(10 * kBlock), &tally, clock);
  for (int i = 0; i < 5; ++i) pass(streamer->weights(0), model);
  streamer->set_max_outstanding(0);
  const StreamingStats stats = quiet(*streamer, clock);
  // The last callbacks may still be on their way from the prefetch thread: its end is a point where none is.
  streamer.reset();
  expect_equal(stats, tally.total);
}

TEST(Accounting, without_prefetch_each_miss_costs_latency_and_transfer) {
  const Model model("miss", std::vector<std::uint64_t>(20, kBlock));
  StillClock clock;
  StreamingOptions options = throttled(10 * kBlock, 1e9, 10'000);
  options.policy = PolicyKind::lru;
  options.prefetch_distance = 0;
  const auto streamer = open_or_die({model.layout}, options, nullptr, clock);
  const std::int64_t start = clock.now();
  for (int i = 0; i < 5; ++i) pass(streamer->weights(0), model);
  const StreamingStats stats = streamer->stats();
  EXPECT_EQ(stats.misses, 100u);
  EXPECT_EQ(stats.wait_ns, 100 * (10'000 + static_cast<std::int64_t>(kBlock)));
  EXPECT_EQ(clock.now() - start, stats.wait_ns);
  EXPECT_EQ(stats.transfer_bytes, 100 * kBlock);
  EXPECT_EQ(stats.transfer_ns, 100 * static_cast<std::int64_t>(kBlock));
}

TEST(Accounting, prefetch_hides_the_latency_and_leaves_the_bandwidth) {
  // Nothing is computed between accesses, so every block is late and the link is the limit: one block each kBlock ns.
  const Model model("late", std::vector<std::uint64_t>(50, kBlock));
  StillClock clock;
  StreamingOptions options = throttled(20 * kBlock, 1e9, 10'000);
  options.policy = PolicyKind::lru;
  const auto streamer = open_or_die({model.layout}, options, nullptr, clock);
  for (int i = 0; i < 2; ++i) pass(streamer->weights(0), model);
  const StreamingStats before = streamer->stats();
  const std::int64_t start = clock.now();
  for (int i = 0; i < 10; ++i) pass(streamer->weights(0), model);
  const StreamingStats after = streamer->stats();
  EXPECT_EQ(after.misses, before.misses);
  const double blocks = static_cast<double>(clock.now() - start) / static_cast<double>(kBlock);
  EXPECT_NEAR(blocks, 500, 10);
}

TEST(Accounting, transfers_never_overlap_on_the_link) {
  const Model model("overlap", std::vector<std::uint64_t>(60, kBlock));
  StillClock clock;
  Tally tally;
  StreamingOptions options = throttled(20 * kBlock, 1e9, 10'000);
  {
    const auto streamer = open_or_die({model.layout}, options, &tally, clock);
    for (int i = 0; i < 6; ++i) pass(streamer->weights(0), model);
  }
  auto& transfers = tally.transfers;
  ASSERT_GT(transfers.size(), 60u);
  std::sort(transfers.begin(), transfers.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  for (std::size_t i = 1; i < transfers.size(); ++i) {
    EXPECT_GE(transfers[i].start, transfers[i - 1].start + transfers[i - 1].duration);
    EXPECT_EQ(transfers[i].duration, static_cast<std::int64_t>(kBlock));
    EXPECT_GE(transfers[i].queue_depth, 1u);
    EXPECT_EQ(transfers[i].useful_bytes, kBlock);
  }
}

TEST(Accounting, a_late_block_costs_only_the_rest_of_its_transfer) {
  const Model model("rest", std::vector<std::uint64_t>(30, kBlock));
  StillClock clock;
  Tally tally;
  StreamingOptions options = throttled(12 * kBlock, 1e9, 10'000);
  options.policy = PolicyKind::lru;
  {
    const auto streamer = open_or_die({model.layout}, options, &tally, clock);
    for (int i = 0; i < 4; ++i) pass(streamer->weights(0), model);
  }
  std::uint64_t late = 0;
  for (const StreamAccess& access : tally.accesses) {
    if (access.outcome == StreamOutcome::hit) {
      EXPECT_EQ(access.wait, 0);
    }
    if (access.outcome != StreamOutcome::late) continue;
    ++late;
    EXPECT_EQ(access.origin, StreamOrigin::prefetched);
    EXPECT_LE(access.wait, 10'000 + 2 * static_cast<std::int64_t>(kBlock));
  }
  EXPECT_GT(late, 0u);
}

TEST(Accounting, enough_compute_turns_late_blocks_into_hits) {
  const Model model("compute", std::vector<std::uint64_t>(40, kBlock));
  StillClock clock;
  Tally tally;
  StreamingOptions options = throttled(16 * kBlock, 1e9, 10'000);
  options.policy = PolicyKind::lru;
  const auto streamer = open_or_die({model.layout}, options, &tally, clock);
  auto& weights = streamer->weights(0);
  for (int step = 0; step < 4; ++step) {
    for (std::uint32_t block = 0; block < 40; ++block) {
      ASSERT_TRUE(weights.acquire(block));
      // "Computes" until the prefetch thread has done all it was asked for; in virtual time that is 10 blocks' worth.
      clock.advance(10 * static_cast<std::int64_t>(kBlock));
      for (StreamingStats now = streamer->stats();
           now.prefetches_issued > now.prefetches_completed + now.prefetches_cancelled; now = streamer->stats()) {
        std::this_thread::yield();
        clock.advance(1000);
      }
      weights.release(block);
    }
  }
  const StreamingStats stats = streamer->stats();
  // The first pass has to be learned; after it everything is there when asked.
  EXPECT_LE(stats.misses, 45u);
  EXPECT_GE(stats.hits, 115u);
}

TEST(Accounting, policy_2_moves_only_what_does_not_fit) {
  const Model model("moves", std::vector<std::uint64_t>(40, kBlock));
  std::uint64_t moved[3] = {};
  for (const PolicyKind policy : {PolicyKind::lru, PolicyKind::prediction}) {
    StillClock clock;
    StreamingOptions options = throttled(24 * kBlock, 1e9, 10'000);
    options.policy = policy;
    const auto streamer = open_or_die({model.layout}, options, nullptr, clock);
    for (int i = 0; i < 3; ++i) pass(streamer->weights(0), model);
    const std::uint64_t before = streamer->stats().transfers;
    for (int i = 0; i < 10; ++i) pass(streamer->weights(0), model);
    moved[static_cast<int>(policy)] = streamer->stats().transfers - before;
  }
  EXPECT_NEAR(static_cast<double>(moved[0]), 400, 10);  // LRU: all of it, every pass
  EXPECT_LT(moved[2], 240u);  // 16 of 40 do not fit, and some room is needed to stream through
}

TEST(Accounting, a_small_cache_and_a_long_lookahead_evict_unused_prefetches_under_lru) {
  const Model model("unused", std::vector<std::uint64_t>(40, kBlock));
  StillClock clock;
  Tally tally;
  StreamingOptions options = throttled(6 * kBlock);
  options.policy = PolicyKind::lru;
  options.prefetch_distance = 30;
  options.max_outstanding = 16;
  const auto streamer = open_or_die({model.layout}, options, &tally, clock);
  for (int step = 0; step < 4; ++step) {
    for (std::uint32_t block = 0; block < 40; ++block) {
      ASSERT_TRUE(streamer->weights(0).acquire(block));
      streamer->weights(0).release(block);
      for (int i = 0; i < 3; ++i) {  // room for a few prefetches at a time: those before are thrown out
        (void)streamer->schedule(streamer->predict_path());
        const std::uint64_t issued = streamer->stats().prefetches_issued;
        for (StreamingStats now = streamer->stats(); now.prefetches_completed + now.prefetches_cancelled < issued;
             now = streamer->stats()) {  // a plan that was cut goes on by itself: it never falls quiet
          clock.advance(2 * static_cast<std::int64_t>(kBlock));
          std::this_thread::yield();
        }
      }
    }
  }
  EXPECT_GT(streamer->stats().prefetches_evicted_unused, 0u);
  EXPECT_GT(streamer->stats().pollution_misses, 0u);
  EXPECT_GT(tally.total.prefetches_displaced, 0u);
}

TEST(Accounting, a_notice_keeps_the_step_in_which_it_was_made_whenever_it_is_delivered) {
  Tally tally;
  Outbox out(&tally);
  for (std::uint64_t step = 1; step <= 5; ++step) {
    tally.now = step;
    out.add(StreamPrefetch{7, static_cast<StreamPrefetchPoint>(step - 1), kBlock, 0, {}});
    out.add_stage(StreamStage::path_prediction, 0, 1);
  }
  tally.now = 9;
  out.deliver();
  ASSERT_EQ(tally.prefetches.size(), 5u);
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(tally.prefetches[i].mark, i + 1);
  EXPECT_EQ(tally.stage_marks, (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
}

TEST(Accounting, a_prefetch_that_throws_out_several_blocks_tells_of_each_when_it_is_issued) {
  std::vector<std::uint64_t> sizes(24, kBlock);
  for (std::size_t i = 5; i < sizes.size(); i += 6) sizes[i] = 4 * kBlock;  // makes room by throwing out up to four
  const Model model("several", sizes);
  StillClock clock;
  Tally tally;
  StreamingOptions options = throttled(14 * kBlock);
  options.policy = PolicyKind::lru;
  options.max_held = 1;
  {
    const auto streamer = open_or_die({model.layout}, options, &tally, clock);
    for (int i = 0; i < 6; ++i) pass(streamer->weights(0), model, 1);
  }
  std::map<std::pair<BlockId, std::int64_t>, std::size_t> victims, issues;
  for (const StreamPrefetch& prefetch : tally.prefetches) {
    const std::pair key{prefetch.block, prefetch.time};
    issues[key] += prefetch.point == StreamPrefetchPoint::issued;
    EXPECT_EQ(prefetch.victim.has_value(), prefetch.point == StreamPrefetchPoint::displaced);
    if (prefetch.point != StreamPrefetchPoint::displaced) continue;
    EXPECT_NE(*prefetch.victim, prefetch.block);
    ++victims[key];
  }
  std::size_t most = 0;
  for (const auto& [key, count] : victims) {
    EXPECT_GT(issues[key], 0u) << "block " << key.first << " displaced others at a moment when it was not issued";
    most = std::max(most, count);
  }
  EXPECT_GT(most, 1u);
}

}  // namespace
}  // namespace dmengine
