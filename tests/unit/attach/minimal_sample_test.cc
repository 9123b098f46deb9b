#include "tests/unit/attach/child_engine.h"

namespace dmprof::attach {
namespace {

using MinimalSample = AttachTest;

TEST_F(MinimalSample, is_recorded_completely_from_its_first_event) {
  const char* build = ::getenv("DMPROF_BINARY_DIR");
  if (build == nullptr) GTEST_SKIP() << "DMPROF_BINARY_DIR is not set: run it through ctest";
  const std::string program = std::string(build) + "/bin/dm-minimal";
  AttachOptions options;
  options.session = make_session();
  options.ring_bytes = 1 << 20;
  AttachCollector collector(options);
  test::VectorSink sink;
  ASSERT_TRUE(collector.start(sink));
  int output[2];
  ASSERT_EQ(::pipe(output), 0);
  const pid_t command = ::fork();
  if (command == 0) {
    ::setenv("DMPROF_CONTROL", options.session.c_str(), 1);
    ::dup2(output[1], 1);
    ::execl(program.c_str(), program.c_str(), "100", nullptr);
    ::_exit(127);
  }
  poll_until(collector, [&] { return collector.engines_seen() == 1 && collector.engines_running() == 0; });
  int status = 0;
  ::waitpid(command, &status, 0);
  ASSERT_TRUE(collector.stop());
  ASSERT_EQ(status, 0);
  char text[128] = "";
  ASSERT_GT(::read(output[0], text, sizeof text - 1), 0);
  EXPECT_STREQ(text, "emitted 1302 lost 0\n");

  EXPECT_EQ(sink.of<Slice>().size(), 400u);  // a step and its three phases
  EXPECT_EQ(sink.of<Step>().size(), 100u);
  EXPECT_EQ(sink.of<SpeculationStep>().size(), 100u);
  EXPECT_EQ(sink.of<RequestEvent>().size(), 2u);
  EXPECT_EQ(sink.of<Prefetch>().size(), 200u);  // issued and completed
  for (const std::size_t count : {sink.of<Instant>().size(), sink.of<Counter>().size(), sink.of<BlockAccess>().size(),
                                  sink.of<Transfer>().size(), sink.of<Kernel>().size()}) {
    EXPECT_EQ(count, 100u);
  }
  EXPECT_EQ(sink.events.size(), 1302u);
  ASSERT_FALSE(sink.knobs.empty());
  EXPECT_EQ(sink.knobs.back().name, "lookahead");
  EXPECT_EQ(sink.knobs.back().value, "5");  // from the middle of the run on
  EXPECT_EQ(sink.capacities.size(), 2u);
  for (const Capacity& capacity : sink.capacities) {
    EXPECT_EQ(capacity.measured_bandwidth, 0) << "nobody measured " << capacity.name;
    EXPECT_EQ(capacity.size_bytes, 0u) << "nobody measured " << capacity.name;
  }
  EXPECT_TRUE(sink.losses.empty());
  const TrackId card = sink.track("card");
  TimeNs expected = 0;  // the card's clock is the sample's own: its readings arrive as they were set
  for (const Instant& instant : sink.of<Instant>()) {
    if (instant.track != card) continue;
    EXPECT_EQ(instant.time, expected += 1000);
  }
  EXPECT_EQ(expected, 100'000);
  expect_balance(sink);
}

}  // namespace
}  // namespace dmprof::attach
