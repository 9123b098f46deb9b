#include <sys/syscall.h>

#include <fstream>

#include "tests/unit/attach/child_engine.h"

namespace dmprof::attach {
namespace {

using Lossless = AttachTest;

constexpr std::uint64_t count = 50'000;

// ChildEngine publishes a normal engine; this body starts again as a lossless one.
void emit_lossless(const ChildEngine::Child& child) {
  dmprof_shutdown();
  const dmprof_options options = {"virtual", "1", DMPROF_LOSSLESS};
  if (dmprof_init(&options) != 0) ::_exit(4);
  const std::uint32_t clock = dmprof_clock_register("card", DMPROF_CLOCK_VIRTUAL);
  dmprof_track* track = dmprof_track_create("engine", clock, 0);
  child.ready();
  child.wait();
  for (std::uint64_t i = 0; i < count; ++i) {
    dmprof_clock_set(clock, i * 10);
    dmprof_begin(track, 0);
    dmprof_instant(track, 0, i);
    dmprof_clock_set(clock, i * 10 + 5);
    dmprof_end(track);
  }
  child.report(dmprof_emitted(track).lost);
}

TEST_F(Lossless, waits_for_room_and_loses_nothing) {
  ChildEngine engine(emit_lossless);
  ASSERT_TRUE(engine.wait_ready());
  test::VectorSink sink;
  AttachCollector collector(options_for(engine.pid(), 64 * sizeof(dmprof_slot)));
  ASSERT_TRUE(collector.start(sink));
  engine.go();
  poll_to_the_end(collector);
  const auto instants = sink.of<Instant>();
  ASSERT_EQ(instants.size(), count);
  for (std::uint64_t i = 0; i < count; ++i) {
    ASSERT_EQ(instants[i].argument, i);
    ASSERT_EQ(instants[i].time, static_cast<TimeNs>(i * 10));
  }
  EXPECT_EQ(sink.of<Slice>().size(), count);
  EXPECT_TRUE(sink.losses.empty());
  EXPECT_EQ(engine.reported(), 0u);
  expect_balance(sink);
}

// Whether the process waits in the futex of a full ring, by what the kernel says of its one thread.
bool waits_in_futex(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/syscall");
  long number = -1;
  return file >> number && number == SYS_futex;
}

TEST_F(Lossless, waits_while_the_collector_lives_and_goes_on_alone_when_it_dies) {
  ChildEngine engine(emit_lossless);
  ASSERT_TRUE(engine.wait_ready());
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t recorder = ::fork();
  if (recorder == 0) {
    test::VectorSink sink;
    AttachCollector collector(options_for(engine.pid(), 64 * sizeof(dmprof_slot)));
    if (!collector.start(sink)) ::_exit(1);
    (void)!::write(ready[1], "x", 1);
    ::pause();  // never drains
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  engine.go();
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!waits_in_futex(engine.pid()) && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
  EXPECT_TRUE(waits_in_futex(engine.pid())) << "it did not wait for room";
  ::kill(recorder, SIGKILL);
  ::waitpid(recorder, nullptr, 0);
  EXPECT_TRUE(engine.ends_within_seconds(10)) << "it waits for a collector that is dead";
}

}  // namespace
}  // namespace dmprof::attach
