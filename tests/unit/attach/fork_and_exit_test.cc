#include <sys/resource.h>

#include <algorithm>

#include "tests/unit/attach/child_engine.h"

namespace dmprof::attach {
namespace {

using ForkAndExit = AttachTest;

TEST_F(ForkAndExit, gives_a_forked_child_its_own_identity_and_leaves_the_parents_ring_alone) {
  ChildEngine engine([](const ChildEngine::Child& child) {
    dmprof_track* track = dmprof_thread_track();
    const std::uint32_t parent = dmprof_name("parent"), forked = dmprof_name("forked");
    child.ready();
    child.wait();
    dmprof_begin(track, parent);
    const pid_t pid = ::fork();
    if (pid == 0) {
      for (int i = 0; i < 1000; ++i) dmprof_instant(dmprof_thread_track(), forked, 1);
      child.ready();
      child.wait();  // recorded from here on
      for (int i = 0; i < 5; ++i) dmprof_instant(dmprof_thread_track(), forked, 2);
      ::_exit(0);
    }
    ::waitpid(pid, nullptr, 0);
    dmprof_end(track);
  });
  ASSERT_TRUE(engine.wait_ready());
  test::VectorSink sink;
  AttachCollector collector(options_for(engine.pid()));
  ASSERT_TRUE(collector.start(sink));
  engine.go();
  ASSERT_TRUE(engine.wait_ready());
  poll_until(collector, [&] { return collector.engines_running() == 2; });
  engine.go();
  poll_to_the_end(collector);
  ASSERT_EQ(sink.processes.size(), 2u);
  EXPECT_EQ(sink.processes[1].parent_pid, engine.pid());
  const auto slices = sink.of<Slice>();
  ASSERT_EQ(slices.size(), 1u);
  const auto instants = sink.of<Instant>();
  EXPECT_EQ(std::count_if(instants.begin(), instants.end(), [](const Instant& i) { return i.argument == 2; }), 5);
  for (const Instant& instant : instants) {
    EXPECT_NE(instant.track, slices[0].track);
    EXPECT_EQ(sink.name(instant.name), "forked");
  }
  expect_balance(sink);
}

TEST_F(ForkAndExit, drains_and_retires_the_rings_of_threads_that_ended) {
  ChildEngine engine([](const ChildEngine::Child& child) {
    child.ready();
    child.wait();
    for (int round = 0; round < 200; ++round) {
      std::thread([] {
        for (int i = 0; i < 10; ++i) dmprof_instant(dmprof_thread_track(), 0, 1);
      }).join();
      if (round % 4 == 3) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  ASSERT_TRUE(engine.wait_ready());
  test::VectorSink sink;
  AttachOptions options = options_for(engine.pid(), 4096);
  options.memory_cap = 64 * 4096;  // far fewer rings than threads
  AttachCollector collector(options);
  ASSERT_TRUE(collector.start(sink));
  engine.go();
  poll_to_the_end(collector);
  EXPECT_EQ(sink.tracks.size(), 200u);
  std::uint64_t emitted = 0;
  for (TrackId track = 1; track <= sink.tracks.size(); ++track) emitted += sink.emitted_by(track);
  EXPECT_EQ(emitted, 2000u);
  expect_balance(sink);
}

TEST_F(ForkAndExit, keeps_what_an_engine_had_written_when_it_was_killed) {
  for (int round = 0; round < 10; ++round) {
    ChildEngine engine([](const ChildEngine::Child& child) {
      child.ready();
      child.wait();
      dmprof_track* track = dmprof_thread_track();
      for (std::uint64_t i = 0;; ++i) {
        dmprof_begin(track, 1);
        dmprof_step_event step{};
        dmprof_step(track, &step);
        dmprof_end(track);
        if (i % 64 == 0) std::this_thread::yield();
      }
    });
    ASSERT_TRUE(engine.wait_ready());
    test::VectorSink sink;
    AttachCollector collector(options_for(engine.pid(), 1 << 20));
    ASSERT_TRUE(collector.start(sink));
    engine.go();
    poll_until(collector, [&] { return sink.events.size() > 100u + 37u * static_cast<unsigned>(round); });
    engine.kill();
    engine.join();
    poll_to_the_end(collector);
    EXPECT_LE(sink.lost(1, "engine_died"), 1u);
    EXPECT_LE(sink.lost(1, "unfinished"), 1u);
    EXPECT_EQ(sink.lost(1, "decode_error"), 0u);
    expect_balance(sink);
  }
}

TEST_F(ForkAndExit, records_a_command_and_its_descendants_from_their_first_event) {
  const std::string session = make_session();
  ::setenv("DMPROF_CONTROL", session.c_str(), 1);
  AttachOptions options;
  options.session = session;
  options.ring_bytes = 64 << 10;
  options.memory_cap = 16 << 20;
  AttachCollector collector(options);
  test::VectorSink sink;
  ASSERT_TRUE(collector.start(sink));
  const pid_t command = ::fork();
  if (command == 0) {
    (void)dmprof_init(nullptr);
    for (int i = 0; i < 10; ++i) dmprof_instant(dmprof_thread_track(), 0, 1);
    if (::fork() == 0) {
      for (int i = 0; i < 10; ++i) dmprof_instant(dmprof_thread_track(), 0, 2);
      ::_exit(0);
    }
    ::wait(nullptr);
    ::_exit(0);
  }
  poll_until(collector, [&] {
    return sink.events.size() >= 19 && collector.engines_seen() == 2 && collector.engines_running() <= 1;
  });
  ::waitpid(command, nullptr, 0);
  ASSERT_TRUE(collector.stop());
  ::unsetenv("DMPROF_CONTROL");
  const auto instants = sink.of<Instant>();
  EXPECT_EQ(std::count_if(instants.begin(), instants.end(), [](const Instant& i) { return i.argument == 1; }), 10);
  // The child's page appears with its first event, which is on its way while it waits.
  EXPECT_EQ(std::count_if(instants.begin(), instants.end(), [](const Instant& i) { return i.argument == 2; }), 10);
  expect_balance(sink);
}

TEST_F(ForkAndExit, does_not_wait_for_a_recorder_that_is_dead) {
  ::setenv("DMPROF_CONTROL", "999999999:1:1", 1);
  ::setenv("DMPROF_WAIT_ATTACH", "10000", 1);
  // Waiting sleeps 100 us at a time, 100,000 times in these ten seconds; how often a process slept is counted.
  ChildEngine engine([](const ChildEngine::Child& child) {
    rusage used{};
    if (::getrusage(RUSAGE_SELF, &used) != 0 || used.ru_nvcsw > 1000) ::_exit(1);
    child.ready();
  });
  EXPECT_TRUE(engine.wait_ready());
  ::unsetenv("DMPROF_CONTROL");
  ::unsetenv("DMPROF_WAIT_ATTACH");
  EXPECT_EQ(engine.join(), 0);
}

}  // namespace
}  // namespace dmprof::attach
