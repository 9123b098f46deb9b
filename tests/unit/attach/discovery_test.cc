// Engines that a recorder finds by itself, when something goes wrong meanwhile.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/unit/attach/child_engine.h"

namespace dmprof::attach {
namespace {

class Discovery : public AttachTest {
 protected:
  // An engine that belongs to the session and does not wait for its recorder.
  static void as_member_of(const std::string& session) {
    ::setenv("DMPROF_CONTROL", session.c_str(), 1);
    ::setenv("DMPROF_WAIT_ATTACH", "0", 1);
  }
  ~Discovery() override { ::unsetenv("DMPROF_WAIT_ATTACH"); }

  static void emit_one(const ChildEngine::Child& child) {
    child.ready();
    child.wait();
    dmprof_instant(dmprof_thread_track(), 0, 1);
  }
  static AttachOptions session_options() {
    AttachOptions options = options_for(0);
    options.pids.clear();
    options.session = make_session();
    return options;
  }
};

// A store that takes nothing more.
class FullSink : public test::VectorSink {
 public:
  enum class Refused { clock, process, environment };
  explicit FullSink(Refused refused) : refused_(refused) {}
  Result<std::uint32_t> add_clock(const ClockDomain& clock) override {
    if (refused_ == Refused::clock) return full();
    return VectorSink::add_clock(clock);
  }
  Result<std::uint32_t> add_process(const Process& process) override {
    if (refused_ == Refused::process) return full();
    return VectorSink::add_process(process);
  }
  Status set_environment(std::string_view key, std::string_view value) override {
    if (refused_ == Refused::environment) return full();
    return VectorSink::set_environment(key, value);
  }

 private:
  static tl::unexpected<Error> full() { return fail(ErrorKind::environment, "the disk is full"); }
  Refused refused_;
};

TEST_F(Discovery, fails_when_the_store_takes_nothing_more) {
  for (const auto refused : {FullSink::Refused::clock, FullSink::Refused::process, FullSink::Refused::environment}) {
    const AttachOptions options = session_options();
    as_member_of(options.session);
    ChildEngine engine(emit_one);
    ASSERT_TRUE(engine.wait_ready());
    FullSink sink(refused);
    AttachCollector collector(options);
    ASSERT_TRUE(collector.start(sink));
    const auto polled = collector.poll();
    ASSERT_FALSE(polled);
    EXPECT_EQ(polled.error().message, "the disk is full");
    EXPECT_TRUE(collector.problems().empty());
    EXPECT_EQ(collector.engines_seen(), 0u);
  }
}

TEST_F(Discovery, notes_an_engine_that_cannot_be_recorded_and_records_the_others) {
  const AttachOptions options = session_options();
  as_member_of(options.session);
  ChildEngine taken(emit_one), open(emit_one);
  ASSERT_TRUE(taken.wait_ready());
  ASSERT_TRUE(open.wait_ready());
  test::VectorSink other_sink, sink;
  AttachCollector other(options_for(taken.pid())), collector(options);
  ASSERT_TRUE(other.start(other_sink));
  ASSERT_TRUE(collector.start(sink));
  poll_until(collector, [&] { return collector.engines_seen() == 1; });
  open.go();
  poll_until(collector, [&] { return sink.of<Instant>().size() == 1; });
  ASSERT_EQ(collector.problems().size(), 1u);
  EXPECT_NE(collector.problems()[0].find("already being recorded"), std::string::npos);
  ASSERT_TRUE(collector.stop());
  ASSERT_TRUE(other.stop());
}

TEST_F(Discovery, finds_an_engine_later_that_it_had_no_descriptor_for) {
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  // With one descriptor the names of pages can be read, with two a page's directory and the page opened, but neither
  // leaves any for what comes then.
  for (const rlim_t left : {0u, 1u, 2u}) {
    const AttachOptions options = session_options();
    as_member_of(options.session);
    ChildEngine engine(emit_one);
    ASSERT_TRUE(engine.wait_ready());
    test::VectorSink sink;
    AttachCollector collector(options);
    ASSERT_TRUE(collector.start(sink));
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(next, 0);
    ::close(next);
    rlimit short_of = usual;
    short_of.rlim_cur = static_cast<rlim_t>(next) + left;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &short_of), 0);
    const auto polled = collector.poll();
    const std::size_t seen = collector.engines_seen();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
    ASSERT_TRUE(polled);
    if (left < 2) {
      EXPECT_EQ(seen, 0u) << "the shortage was none";
    }
    poll_until(collector, [&] { return collector.engines_seen() == 1; });
    ASSERT_TRUE(collector.stop());
  }
}

TEST_F(Discovery, finds_an_engine_later_whose_page_could_not_be_opened_at_first) {
  const AttachOptions options = session_options();
  as_member_of(options.session);
  ChildEngine engine(emit_one);
  ASSERT_TRUE(engine.wait_ready());
  ASSERT_EQ(::chmod(page_path(engine.pid()).c_str(), 0644), 0);
  test::VectorSink sink;
  AttachCollector collector(options);
  ASSERT_TRUE(collector.start(sink));
  ASSERT_TRUE(collector.poll());
  EXPECT_EQ(collector.engines_seen(), 0u);
  ASSERT_EQ(::chmod(page_path(engine.pid()).c_str(), 0600), 0);
  poll_until(collector, [&] { return collector.engines_seen() == 1; });
  ASSERT_TRUE(collector.stop());
}

}  // namespace
}  // namespace dmprof::attach
