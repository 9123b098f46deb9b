#include "tests/unit/attach/child_engine.h"

namespace dmprof::attach {
namespace {

using Losses = AttachTest;

TEST_F(Losses, reports_how_many_events_were_lost_when_the_ring_is_full) {
  constexpr std::uint64_t count = 10'000;
  ChildEngine engine([](const ChildEngine::Child& child) {
    child.ready();
    child.wait();
    dmprof_track* track = dmprof_thread_track();
    const std::uint32_t step = dmprof_name("step"), draft = dmprof_name("draft"), tick = dmprof_name("tick");
    for (std::uint64_t i = 0; i < count; ++i) {
      dmprof_begin(track, step);
      dmprof_phase(track, draft);
      dmprof_instant(track, tick, i);
      dmprof_kernel_event kernel{};
      dmprof_kernel(track, &kernel);
      dmprof_phase(track, tick);
      dmprof_end(track);
    }
    child.report(dmprof_emitted(track).emitted);
    child.report(dmprof_emitted(nullptr).lost);
  });
  ASSERT_TRUE(engine.wait_ready());
  test::VectorSink sink;
  AttachCollector collector(options_for(engine.pid(), 64 * sizeof(dmprof_slot)));
  ASSERT_TRUE(collector.start(sink));
  engine.go();
  const std::uint64_t emitted = engine.reported(), lost = engine.reported();  // nobody drains until the engine is done
  poll_to_the_end(collector);
  EXPECT_EQ(emitted, 5 * count);
  EXPECT_GT(lost, 4 * count);
  EXPECT_EQ(sink.emitted_by(1), emitted);
  EXPECT_EQ(sink.lost(1, "ring_full"), lost);
  EXPECT_EQ(sink.recorded(1), emitted - lost);
  EXPECT_EQ(sink.lost(1), lost) << "whole slices are lost, never halves: nothing is unfinished or malformed";
}

TEST_F(Losses, balances_for_a_collector_that_drains_now_and_then) {
  ChildEngine engine([](const ChildEngine::Child& child) {
    child.ready();
    child.wait();
    dmprof_track* track = dmprof_thread_track();
    const std::uint32_t step = dmprof_name("step"), a = dmprof_name("a"), b = dmprof_name("b");
    for (int i = 0; i < 300'000; ++i) {
      dmprof_begin(track, step);
      dmprof_phase(track, a);
      if (i % 3 == 0) dmprof_begin(track, b);
      dmprof_speculation_event speculation{};
      dmprof_speculation(track, &speculation);
      if (i % 3 == 0) dmprof_end(track);
      dmprof_phase(track, b);
      if (i % 2 == 0) dmprof_phase(track, 0);
      dmprof_end(track);
    }
  });
  ASSERT_TRUE(engine.wait_ready());
  test::VectorSink sink;
  AttachCollector collector(options_for(engine.pid(), 128 * sizeof(dmprof_slot)));
  ASSERT_TRUE(collector.start(sink));
  engine.go();
  poll_to_the_end(collector);
  EXPECT_EQ(sink.emitted_by(1), 4 * 300'000u + 100'000u);
  EXPECT_EQ(sink.lost(1), sink.lost(1, "ring_full"));
  EXPECT_GT(sink.lost(1, "ring_full"), 0u);
  expect_balance(sink);
  for (const Slice& slice : sink.of<Slice>()) ASSERT_LT(slice.depth, 3u);
}

TEST_F(Losses, counts_events_of_threads_that_found_no_ring) {
  ChildEngine engine([](const ChildEngine::Child& child) {
    child.ready();
    child.wait();
    const auto emit = [] {
      for (int i = 0; i < 100; ++i) dmprof_instant(dmprof_thread_track(), 0, 1);
    };
    emit();
    std::thread(emit).join();
    child.ready();
    child.wait();
  });
  ASSERT_TRUE(engine.wait_ready());
  test::VectorSink sink;
  AttachOptions options = options_for(engine.pid(), 4096);
  options.memory_cap = 4096;  // one ring
  AttachCollector collector(options);
  ASSERT_TRUE(collector.start(sink));
  engine.go();
  ASSERT_TRUE(engine.wait_ready());
  ASSERT_TRUE(collector.stop());
  ASSERT_EQ(sink.tracks.size(), 2u);
  std::uint64_t without_ring = 0;
  for (TrackId track = 1; track <= 2; ++track) {
    EXPECT_EQ(sink.emitted_by(track), 100u);
    without_ring += sink.lost(track, "no_ring_memory");
  }
  EXPECT_EQ(without_ring, 100u);
  expect_balance(sink);
}

TEST_F(Losses, gives_an_error_when_not_even_one_ring_fits_under_the_cap) {
  ChildEngine engine([](const ChildEngine::Child& child) {
    child.ready();
    child.wait();
  });
  ASSERT_TRUE(engine.wait_ready());
  test::VectorSink sink;
  AttachOptions options = options_for(engine.pid(), 1 << 20);
  options.memory_cap = 1 << 16;
  AttachCollector collector(options);
  const Status refused = collector.start(sink);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::environment);
  EXPECT_NE(refused.error().message.find("raise the total cap"), std::string::npos);
}

TEST_F(Losses, counts_spans_nested_too_deep) {
  ChildEngine engine([](const ChildEngine::Child& child) {
    child.ready();
    child.wait();
    dmprof_track* track = dmprof_thread_track();
    for (int i = 0; i < 100; ++i) dmprof_begin(track, 1);
    dmprof_phase(track, 1);
    for (int i = 0; i < 100; ++i) dmprof_end(track);
    dmprof_begin(track, 1);
    dmprof_end(track);
  });
  ASSERT_TRUE(engine.wait_ready());
  test::VectorSink sink;
  AttachCollector collector(options_for(engine.pid()));
  ASSERT_TRUE(collector.start(sink));
  engine.go();
  poll_to_the_end(collector);
  EXPECT_EQ(sink.of<Slice>().size(), 64u);
  EXPECT_EQ(sink.of<Slice>()[0].depth, 62u);
  EXPECT_EQ(sink.lost(1, "too_deep"), 38u);  // 37 spans and the phase
  EXPECT_EQ(sink.of<Slice>().back().depth, 0u);
  expect_balance(sink);
}

}  // namespace
}  // namespace dmprof::attach
