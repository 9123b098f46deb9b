// A recorder that runs out of file descriptors can look at nothing, and must not conclude anything from that.
#include <sys/resource.h>

#include "tests/unit/attach/child_engine.h"

namespace dmprof::attach {
namespace {

using Shortage = AttachTest;

// No further descriptor can be opened while this lives.
class NoDescriptors {
 public:
  NoDescriptors() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &usual_), 0);
    rlimit none = usual_;
    none.rlim_cur = 0;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoDescriptors() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &usual_), 0); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit usual_{};
};

// Polls long enough that the collector has looked after its engines several times (it does every 10 ms).
void poll_through_some_checks(AttachCollector& collector) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(60);
  while (std::chrono::steady_clock::now() < end) {
    const auto result = collector.poll();
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_FALSE(result->finished) << "a live engine was taken for dead";
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

TEST_F(Shortage, out_of_descriptors_a_live_engine_goes_on_being_recorded) {
  ChildEngine engine([](const ChildEngine::Child& child) {
    dmprof_track* track = dmprof_thread_track();
    child.ready();
    child.wait();
    dmprof_instant(track, 0, 1);
    child.ready();
    child.wait();
    dmprof_instant(track, 0, 2);
    child.report(dmprof_emitted(track).emitted);
  });
  ASSERT_TRUE(engine.wait_ready());
  test::VectorSink sink;
  AttachCollector collector(options_for(engine.pid()));
  ASSERT_TRUE(collector.start(sink));
  engine.go();
  ASSERT_TRUE(engine.wait_ready());
  {
    const NoDescriptors shortage;
    poll_through_some_checks(collector);
    EXPECT_EQ(collector.engines_running(), 1u);
    EXPECT_EQ(sink.of<Instant>().size(), 1u);
    engine.go();
    EXPECT_EQ(engine.reported(), 2u);
    EXPECT_EQ(engine.join(), 0);
    poll_to_the_end(collector);  // that one is really gone, which takes no descriptor to see
  }
  EXPECT_EQ(sink.of<Instant>().size(), 2u);
  EXPECT_TRUE(sink.losses.empty());
  expect_balance(sink);
}

TEST_F(Shortage, an_engine_that_nobody_can_look_for_is_not_said_to_lack_the_sdk) {
  ChildEngine engine([](const ChildEngine::Child& child) {
    child.ready();
    child.wait();
  });
  ASSERT_TRUE(engine.wait_ready());
  test::VectorSink sink;
  Status started;
  {
    AttachCollector collector(options_for(engine.pid()));
    const NoDescriptors shortage;
    started = collector.start(sink);
  }
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind, ErrorKind::environment);
  EXPECT_EQ(started.error().message,
            "no file descriptor is left to look for process " + std::to_string(engine.pid()) + ": raise `ulimit -n`");
  AttachCollector collector(options_for(engine.pid()));
  EXPECT_TRUE(collector.start(sink)) << "its page is still there";
  EXPECT_TRUE(collector.stop());
  engine.go();
  EXPECT_EQ(engine.join(), 0);
}

TEST_F(Shortage, a_recording_that_is_stopped_without_descriptors_detaches_and_the_engine_lives_on) {
  ChildEngine engine([](const ChildEngine::Child& child) {
    dmprof_track* track = dmprof_thread_track();
    child.ready();
    child.wait();
    for (int i = 0; i < 100; ++i) dmprof_instant(track, 0, 1);
    child.ready();
    child.wait();
  });
  ASSERT_TRUE(engine.wait_ready());
  test::VectorSink sink;
  AttachCollector collector(options_for(engine.pid()));
  ASSERT_TRUE(collector.start(sink));
  engine.go();
  ASSERT_TRUE(engine.wait_ready());
  {
    const NoDescriptors shortage;
    ASSERT_TRUE(collector.stop());
  }
  EXPECT_EQ(sink.of<Instant>().size(), 100u);
  EXPECT_TRUE(sink.losses.empty());
  expect_balance(sink);
  test::VectorSink second_sink;  // its page is there, and nobody holds it
  AttachCollector second(options_for(engine.pid()));
  ASSERT_TRUE(second.start(second_sink));
  engine.go();
  poll_to_the_end(second);
  EXPECT_EQ(engine.join(), 0);
}

}  // namespace
}  // namespace dmprof::attach
