// A control page whose file was removed, by a cleaner of /tmp say, while its engine runs.
#include "tests/unit/attach/child_engine.h"

namespace dmprof::attach {
namespace {

using PageTakenAway = AttachTest;

void emit_in_two_parts(const ChildEngine::Child& child) {
  dmprof_track* track = dmprof_thread_track();
  for (int part = 0; part < 2; ++part) {
    child.ready();
    child.wait();
    for (std::uint64_t i = 0; i < 10; ++i) dmprof_instant(track, 0, i);
  }
  child.ready();
  child.wait();
  child.report(static_cast<std::uint64_t>(dmprof_enabled()));
}

TEST_F(PageTakenAway, goes_on_recording_its_engine_and_lets_it_go_at_the_end) {
  ChildEngine engine(emit_in_two_parts);
  ASSERT_TRUE(engine.wait_ready());
  test::VectorSink sink;
  AttachCollector collector(options_for(engine.pid()));
  ASSERT_TRUE(collector.start(sink));
  engine.go();
  ASSERT_TRUE(engine.wait_ready());
  poll_until(collector, [&] { return sink.of<Instant>().size() == 10; });
  ASSERT_TRUE(std::filesystem::remove(page_path(engine.pid())));
  // Longer than the interval at which the collector looks whether its engine is there.
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
  poll_until(collector, [&] { return std::chrono::steady_clock::now() > until; });
  EXPECT_EQ(collector.engines_running(), 1u);
  engine.go();
  ASSERT_TRUE(engine.wait_ready());
  poll_until(collector, [&] { return sink.of<Instant>().size() == 20; });
  ASSERT_TRUE(collector.stop());
  engine.go();
  EXPECT_EQ(engine.reported(), 0u) << "the engine still takes itself for recorded";
  EXPECT_EQ(engine.join(), 0);
  EXPECT_TRUE(sink.losses.empty());
  expect_balance(sink);
}

TEST_F(PageTakenAway, notices_the_end_of_its_engine_all_the_same) {
  for (const bool killed : {false, true}) {
    ChildEngine engine(emit_in_two_parts);
    ASSERT_TRUE(engine.wait_ready());
    test::VectorSink sink;
    AttachCollector collector(options_for(engine.pid()));
    ASSERT_TRUE(collector.start(sink));
    ASSERT_TRUE(std::filesystem::remove(page_path(engine.pid())));
    for (int part = 0; part < 2; ++part) {
      engine.go();
      ASSERT_TRUE(engine.wait_ready());
    }
    if (killed) {
      engine.kill();
    } else {
      engine.go();
    }
    poll_to_the_end(collector);
    EXPECT_EQ(sink.of<Instant>().size(), 20u);
    expect_balance(sink);
  }
}

TEST_F(PageTakenAway, does_not_make_a_lossless_engine_wait_for_a_recorder_that_left) {
  ChildEngine engine([](const ChildEngine::Child& child) {
    dmprof_shutdown();
    const dmprof_options options = {"lossless", "1", DMPROF_LOSSLESS};
    if (dmprof_init(&options) != 0) ::_exit(4);
    dmprof_track* track = dmprof_thread_track();
    child.ready();
    child.wait();
    dmprof_instant(track, 0, 0);  // has its ring now
    child.ready();
    child.wait();
    for (std::uint64_t i = 0; i < 10'000; ++i) dmprof_instant(track, 0, i);
  });
  ASSERT_TRUE(engine.wait_ready());
  test::VectorSink sink;
  AttachCollector collector(options_for(engine.pid(), 64 * sizeof(dmprof_slot)));
  ASSERT_TRUE(collector.start(sink));
  engine.go();
  ASSERT_TRUE(engine.wait_ready());
  ASSERT_TRUE(std::filesystem::remove(page_path(engine.pid())));
  ASSERT_TRUE(collector.stop());
  engine.go();
  EXPECT_TRUE(engine.ends_within_seconds(10)) << "it waits for a recorder that left";
}

TEST_F(PageTakenAway, ends_the_session_of_an_engine_that_shut_down_or_began_anew) {
  for (const bool anew : {false, true}) {
    ChildEngine engine([anew](const ChildEngine::Child& child) {
      child.ready();
      child.wait();
      dmprof_instant(dmprof_thread_track(), 0, 1);
      dmprof_shutdown();
      const dmprof_options options = {"anew", "1", 0};
      if (anew && dmprof_init(&options) != 0) ::_exit(4);
      child.ready();
      child.wait();
    });
    ASSERT_TRUE(engine.wait_ready());
    test::VectorSink sink;
    AttachCollector collector(options_for(engine.pid()));
    ASSERT_TRUE(collector.start(sink));
    engine.go();
    ASSERT_TRUE(engine.wait_ready());
    poll_to_the_end(collector);  // while the process lives
    EXPECT_EQ(sink.of<Instant>().size(), 1u);
    expect_balance(sink);
    engine.go();
    EXPECT_EQ(engine.join(), 0);
  }
}

}  // namespace
}  // namespace dmprof::attach
