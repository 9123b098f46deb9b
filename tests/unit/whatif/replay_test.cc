// The cache model on accesses whose waits can be counted by hand.
#include "analyzers/whatif/replay.h"

#include <gtest/gtest.h>

#include "analyzers/whatif/cache_model.h"
#include "tests/unit/whatif/recordings.h"

namespace dmprof::whatif {
namespace {

constexpr std::uint64_t block_bytes = 50;

// `rounds` passes over blocks 1..blocks, asked for one at a time, `work` ns apart.
AccessTrace scan(std::uint64_t blocks, int rounds, double work) {
  AccessTrace trace;
  for (int round = 0; round < rounds; ++round) {
    for (std::uint64_t block = 1; block <= blocks; ++block) {
      TraceGroup group;
      group.work_before = work, group.step = static_cast<std::uint64_t>(round) + 1, group.counted = true;
      group.place = static_cast<std::uint32_t>(block - 1);
      group.first_of_step = block == 1;
      group.blocks.push_back({block, block_bytes, 0, false, true});
      trace.groups.push_back(group);
      ++trace.accesses;
    }
  }
  return trace;
}

Link serial_link() {  // 100 ns of latency, 50 ns a block
  Link link;
  link.latency = 100, link.ns_per_byte = 1;
  return link;
}

CacheSetup room_for(std::uint64_t blocks, cachemodel::PolicyKind policy = cachemodel::PolicyKind::lru) {
  return {.policy = policy, .budget = blocks * block_bytes, .prefetcher = {}};
}

TEST(Replay, a_scan_larger_than_the_cache_misses_every_time_and_waits_for_each_block) {
  const Replayed replayed = replay(scan(4, 10, 10), serial_link(), room_for(2));
  EXPECT_EQ(replayed.misses, 40u);
  EXPECT_EQ(replayed.hits, 0u);
  EXPECT_DOUBLE_EQ(replayed.verify_wait, 40 * 150);
}

TEST(Replay, a_cache_that_holds_the_scan_waits_for_the_first_round_only) {
  const Replayed replayed = replay(scan(4, 10, 10), serial_link(), room_for(4));
  EXPECT_EQ(replayed.misses, 4u);
  EXPECT_EQ(replayed.hits, 36u);
  EXPECT_DOUBLE_EQ(replayed.verify_wait, 4 * 150);
}

TEST(Replay, prediction_keeps_part_of_a_scan_resident) {
  const Replayed lru = replay(scan(10, 50, 10), serial_link(), room_for(6));
  const Replayed predicted = replay(scan(10, 50, 10), serial_link(), room_for(6, cachemodel::PolicyKind::prediction));
  EXPECT_EQ(lru.hits, 0u);
  EXPECT_NEAR(predicted.hit_rate(), 5.0 / 9, 0.05);  // the optimum, FORMULAS: (C - 1) / (W - 1)
}

TEST(Replay, a_prefetcher_that_has_learned_the_scan_hides_what_work_there_is_to_hide_behind) {
  CacheSetup setup = room_for(9);
  setup.prefetcher = {.kind = Prefetcher::Kind::chain, .distance = 1};
  const Replayed enough = replay(scan(10, 50, 200), serial_link(), setup);
  EXPECT_GT(enough.hit_rate(), 0.95);
  // 60 ns of work: 90 of the 150 are left to wait for.
  const Replayed late = replay(scan(10, 50, 60), serial_link(), setup);
  EXPECT_NEAR(late.verify_wait / 500, 90, 5);
  EXPECT_GT(late.late, 450u);
  // Further ahead the latencies overlap: a block every 60 ns is what work takes, and the link needs but 50. LRU needs
  // room for twice the distance, or what was fetched first is the oldest and goes before it is used.
  setup.prefetcher.distance = 4, setup.prefetcher.outstanding = 4;
  EXPECT_LT(replay(scan(10, 50, 60), serial_link(), setup).verify_wait, late.verify_wait / 4);
}

TEST(Replay, looking_further_ahead_than_the_cache_holds_does_not_help) {
  CacheSetup setup = room_for(3);
  setup.prefetcher = {.kind = Prefetcher::Kind::chain, .distance = 2, .outstanding = 8};
  const Replayed two = replay(scan(10, 50, 60), serial_link(), setup);
  setup.prefetcher.distance = 8;
  const Replayed eight = replay(scan(10, 50, 60), serial_link(), setup);
  EXPECT_GE(eight.verify_wait, two.verify_wait * 0.99);
}

TEST(Replay, waking_up_and_planning_cost_the_consumer) {
  Link link = serial_link();
  link.wake_up = 7;
  EXPECT_DOUBLE_EQ(replay(scan(4, 10, 10), link, room_for(2)).verify_wait, 40 * 157);
  CacheSetup setup = room_for(4);
  setup.prefetcher = {.kind = Prefetcher::Kind::chain, .distance = 1, .plan_cost = 5};
  const double with = replay(scan(4, 10, 10), serial_link(), setup).verify_wait;
  setup.prefetcher.plan_cost = 0;
  EXPECT_GT(with, replay(scan(4, 10, 10), serial_link(), setup).verify_wait);
}

// Passes of two groups of four blocks, asked for together, after 1000 ns of drafting.
AccessTrace passes(int steps) {
  AccessTrace trace;
  trace.grouped = true;
  for (int step = 1; step <= steps; ++step) {
    for (std::uint32_t place = 0; place < 2; ++place) {
      TraceGroup group;
      group.step = static_cast<std::uint64_t>(step), group.place = place, group.counted = true;
      group.tokens = 5, group.first_of_step = place == 0;
      group.work_before = group.drafting = place == 0 ? 1000 : 0;
      for (std::uint64_t block = 0; block < 4; ++block)
        group.blocks.push_back({place * 4 + block + 1, block_bytes, 10, false, true});
      trace.groups.push_back(group);
      trace.accesses += 4;
    }
  }
  return trace;
}

Link parallel_link() {
  Link link;
  link.serial = false;
  link.demand_times = link.prefetch_times = {100};
  link.demand_slots = 2, link.prefetch_slots = 2;
  return link;
}

TEST(Replay, blocks_asked_for_together_share_the_slots_of_the_link) {
  const Replayed replayed = replay(passes(10), parallel_link(), room_for(4));
  EXPECT_EQ(replayed.misses, 80u);
  // Two arrive after 100 ns, two after 200; the work on the first two, 20 ns, hides as much of the second wait.
  EXPECT_DOUBLE_EQ(replayed.verify_wait, 20 * (100 + 80));
}

TEST(Replay, announced_blocks_come_while_the_step_drafts) {
  CacheSetup setup = room_for(8);
  setup.budget += 4 * block_bytes;
  setup.prefetcher = {.kind = Prefetcher::Kind::announced, .outstanding = 4};
  AccessTrace other_blocks = passes(20);
  for (TraceGroup& group : other_blocks.groups) {
    for (TraceBlock& block : group.blocks) block.block += 8 * group.step;  // nothing is ever asked for twice
  }
  const Replayed fetched = replay(other_blocks, parallel_link(), setup);
  EXPECT_GT(fetched.hit_rate(), 0.9);
  setup.prefetcher.kind = Prefetcher::Kind::none;
  EXPECT_EQ(replay(other_blocks, parallel_link(), setup).hits, 0u);
}

TEST(Replay, more_tokens_ask_for_more_of_the_blocks_and_fewer_for_fewer) {
  AccessTrace trace = passes(400);
  trace.asked_by_token = 0.2;
  std::size_t at = 0;
  for (TraceGroup& group : trace.groups) {  // 5 tokens ask for 2/3 of four blocks
    const std::size_t left_out = at++ % 3 == 0 ? 2 : 1;
    for (std::size_t i = 0; i < left_out; ++i)
      group.blocks.erase(group.blocks.begin() + static_cast<std::ptrdiff_t>((at + i) % group.blocks.size()));
  }
  const auto blocks = [](const AccessTrace& of) {
    std::size_t all = 0;
    for (const TraceGroup& group : of.groups) all += group.blocks.size();
    return static_cast<double>(all);
  };
  const double recorded = blocks(trace);
  EXPECT_GT(blocks(with_tokens(trace, 5, 9)), recorded * 1.15);
  EXPECT_LE(blocks(with_tokens(trace, 5, 9)), 400.0 * 8);
  EXPECT_LT(blocks(with_tokens(trace, 5, 3)), recorded * 0.85);
  EXPECT_EQ(blocks(with_tokens(trace, 5, 5)), recorded);
  const AccessTrace wider = with_tokens(trace, 5, 9);
  EXPECT_DOUBLE_EQ(wider.groups.front().drafting, 2000);  // eight drafts instead of four
}

TEST(Replay, nothing_at_all_is_no_crash) {
  const AccessTrace none;
  EXPECT_EQ(replay(none, serial_link(), room_for(2)).hit_rate(), 0);
  // A block larger than the cache is waited for each time and kept never.
  EXPECT_EQ(replay(scan(1, 5, 10), serial_link(), {.policy = {}, .budget = 10, .prefetcher = {}}).misses, 5u);
}

// A recording of the scan: LRU, no prefetch, one block a step; the link takes 1 ms, work 1 ms.
Recording recorded_scan(std::uint64_t blocks, std::uint64_t cache_bytes, const char* policy) {
  using test::ms;
  test::Trace trace;
  const TierId resident = trace.tier("resident", 0, true, 0, cache_bytes);
  const TierId backing = trace.tier("backing", 2, false, 1e9);
  for (int round = 0; round < 30; ++round) {
    for (std::uint64_t block = 1; block <= blocks; ++block) {
      const TimeNs asks = trace.now + ms;
      trace.step({.duration = 2 * ms, .verify = 2 * ms});
      trace.access(block, resident, AccessOutcome::miss, BlockOrigin::demand, asks, ms, trace.steps);
      Transfer transfer;
      transfer.track = 1, transfer.start = asks, transfer.duration = ms, transfer.from = backing,
      transfer.to = resident;
      transfer.bytes = transfer.useful_bytes = 1000, transfer.block = block;
      trace.recording.transfers.push_back(transfer);
    }
  }
  test::add_knob(trace.recording, "cache_policy", policy, "0|1|2", "choice");
  test::add_knob(trace.recording, "resident", std::to_string(cache_bytes), "0..", "integer", "bytes");
  return trace.done();
}

TEST(CacheModel, reproduces_its_recording_and_predicts_a_cache_that_holds_everything) {
  const Recording recording = recorded_scan(10, 6000, "0");
  const CacheModel model{View(recording)};
  EXPECT_EQ(model.lacking(), "");
  EXPECT_NEAR(model.residual(), 0, 0.02);
  const auto larger = model.effect({{"cache_policy", "0"}, {"resident", "10000"}}, {});
  ASSERT_TRUE(larger);
  EXPECT_NEAR(larger->verify.mid, -299e6, 10e6);  // all but the first round: 1 ms each
  EXPECT_LE(larger->verify.low, larger->verify.mid);
  EXPECT_GE(larger->verify.high, larger->verify.mid);
  EXPECT_NEAR(larger->hit_rate(0), 1, 0.05);
  const auto same = model.effect({{"cache_policy", "0"}, {"resident", "6000"}}, {});
  ASSERT_TRUE(same);
  EXPECT_EQ(same->verify.mid, 0);
}

TEST(AccessTrace, of_a_long_recording_is_its_beginning_and_says_how_much_of_it) {
  const Recording recording = recorded_scan(10, 6000, "0");
  const View view(recording);
  const auto all = access_trace(view, 1000), part = access_trace(view, 100);
  ASSERT_TRUE(all && part);
  EXPECT_EQ(all->covered, 1);
  EXPECT_EQ(all->groups.size(), 300u);
  EXPECT_EQ(part->groups.size(), 100u);
  EXPECT_NEAR(part->covered, 1.0 / 3, 0.01);
  EXPECT_DOUBLE_EQ(part->verify_wait, 99e6);  // one of the hundred is warm-up
  const Recording empty;
  EXPECT_FALSE(access_trace(View(empty), 10));
}

TEST(CacheModel, says_what_a_recording_lacks) {
  Recording recording = recorded_scan(10, 6000, "0");
  recording.transfers.clear();
  EXPECT_NE(CacheModel(View(recording)).lacking(), "");
  recording = recorded_scan(10, 6000, "9");
  EXPECT_NE(CacheModel(View(recording)).lacking().find("cache_policy"), std::string::npos);
  recording = recorded_scan(10, 0, "0");
  EXPECT_NE(CacheModel(View(recording)).lacking().find("size of resident"), std::string::npos);
  const Recording empty;
  EXPECT_NE(CacheModel(View(empty)).lacking(), "");
}

TEST(CacheModel, refuses_to_answer_when_the_replay_is_of_another_machine) {
  Recording recording = recorded_scan(10, 6000, "0");
  for (BlockAccess& access : recording.accesses)
    access.wait /= 4;  // what the transfers took does not explain the waits
  const CacheModel model{View(recording)};
  EXPECT_NE(model.lacking().find("does not reproduce"), std::string::npos);
  EXPECT_FALSE(model.effect({{"cache_policy", "2"}}, {}));
}

}  // namespace
}  // namespace dmprof::whatif
