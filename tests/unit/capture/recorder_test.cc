// The loop against a collector made for the test: what it polls, when it stops, and what is in the recording
// afterwards.
#include "dmprof/capture/recorder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "dmprof/store/reader.h"

namespace dmprof::capture {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// Emits one instant a poll; fails or finishes when told to.
class ScriptedCollector : public Collector {
 public:
  int finish_after = -1, fail_after = -1, polls = 0, stops = 0;
  bool fail_start = false;

  Status start(EventSink& sink) override {
    if (fail_start) return fail(ErrorKind::environment, "no such process");
    sink_ = &sink;
    const auto process = sink.add_process({1, 0, "engine", "engine"});
    const auto clock = sink.add_clock({"host", ClockKind::monotonic, "test"});
    track_ = sink.add_track({*process, 1, *clock, "main"}).value();
    return {};
  }
  Result<PollResult> poll() override {
    ++polls;
    if (polls == fail_after) return fail(ErrorKind::environment, "the disk is full");
    const Event event = Instant{.track = track_, .time = polls};
    DMPROF_TRY(sink_->accept(std::span(&event, 1)));
    PollResult result;
    result.events = 1;
    result.finished = polls == finish_after;
    return result;
  }
  Status stop() override {
    ++stops;
    return sink_->add_loss({track_, "ring_full", 3});
  }

 private:
  EventSink* sink_ = nullptr;
  TrackId track_ = 0;
};

class RecorderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "recorder-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    auto signals = StopSignals::take();
    ASSERT_TRUE(signals);
    signals_.emplace(std::move(*signals));
    auto writer = Writer::create(path());
    ASSERT_TRUE(writer) << writer.error().message;
    writer_ = std::move(*writer);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path() const { return (folder_ / "test.dmprof").string(); }
  Result<Outcome> run(Child* child = nullptr) { return record(collector_, *writer_, *signals_, child, options_); }
  std::uint64_t recorded() const {
    auto reader = Reader::open(path());
    EXPECT_TRUE(reader);
    return reader->count<Instant>().value();
  }

  fs::path folder_;
  std::optional<StopSignals> signals_;
  std::unique_ptr<Writer> writer_;
  ScriptedCollector collector_;
  RecordOptions options_;
};

TEST_F(RecorderTest, ends_when_every_target_has_ended_and_keeps_every_event) {
  collector_.finish_after = 50;
  const auto outcome = run();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->reason, StopReason::targets_ended);
  EXPECT_EQ(outcome->totals.events, 50u);
  EXPECT_EQ(outcome->totals.lost, 3u);
  EXPECT_EQ(outcome->lost_by_cause.at("ring_full"), 3u);
  EXPECT_EQ(outcome->processes, 1u);
  EXPECT_EQ(recorded(), 50u);
  EXPECT_EQ(collector_.stops, 1);
}

TEST_F(RecorderTest, ends_when_the_time_is_up) {
  options_.duration = milliseconds(30);
  const auto outcome = run();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->reason, StopReason::duration);
  EXPECT_EQ(recorded(), outcome->totals.events);
}

TEST_F(RecorderTest, a_stop_signal_finishes_the_recording) {
  ::kill(::getpid(), SIGINT);
  const auto outcome = run();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->reason, StopReason::signal);
  auto reader = Reader::open(path());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->run().value().end, RunEnd::finished);
}

TEST_F(RecorderTest, a_command_is_recorded_until_it_ends) {
  auto child = Child::start({"sh", "-c", "exit 4"}, {});
  ASSERT_TRUE(child);
  collector_.finish_after = 1;  // its processes may come and go meanwhile
  const auto outcome = run(&*child);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->reason, StopReason::command_ended);
  ASSERT_TRUE(outcome->child);
  EXPECT_EQ(outcome->child->exit_status, 4);
}

TEST_F(RecorderTest, a_stop_signal_is_passed_on_to_the_command_and_its_end_awaited) {
  auto child = Child::start({"sleep", "100"}, {});
  ASSERT_TRUE(child);
  ::kill(::getpid(), SIGTERM);
  const auto outcome = run(&*child);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->reason, StopReason::command_ended);
  ASSERT_TRUE(outcome->child);
  EXPECT_EQ(outcome->child->signal, SIGTERM);
}

TEST_F(RecorderTest, a_command_that_ignores_the_signal_does_not_hold_the_recording) {
  const std::string trapped = path() + ".trapped";
  auto child = Child::start({"sh", "-c", "trap '' TERM; : >\"$0\"; while :; do sleep 1; done", trapped}, {});
  ASSERT_TRUE(child);
  for (int i = 0; i < 6000 && !fs::exists(trapped); ++i) ::usleep(10'000);
  ASSERT_TRUE(fs::exists(trapped)) << "the command did not begin within a minute";
  options_.child_grace = milliseconds(50);
  ::kill(::getpid(), SIGTERM);
  const auto outcome = run(&*child);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->reason, StopReason::signal);
  EXPECT_FALSE(outcome->child) << "it is still running";
  child->send(SIGKILL);
  fs::remove(trapped);
}

TEST_F(RecorderTest, an_error_half_way_ends_the_recording_and_keeps_what_came_before) {
  collector_.fail_after = 20;
  const auto outcome = run();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->reason, StopReason::collector_failed);
  EXPECT_EQ(outcome->events_committed, recorded());
  ASSERT_TRUE(outcome->failure);
  EXPECT_EQ(outcome->failure->message, "the disk is full");
  EXPECT_EQ(recorded(), 19u);
}

TEST_F(RecorderTest, a_full_disk_is_an_outcome_with_the_store_s_words) {
  writer_.reset();
  fs::remove(path());
  WriterOptions limits;
  limits.max_file_bytes = 256 << 10;
  limits.chunk_rows = 64;
  limits.flush_interval = milliseconds(1);
  writer_ = Writer::create(path(), limits).value();
  const auto outcome = run();
  ASSERT_TRUE(outcome);
  ASSERT_TRUE(outcome->failure);
  EXPECT_EQ(outcome->failure->kind, ErrorKind::environment);
  EXPECT_GT(recorded(), 0u);
}

TEST_F(RecorderTest, a_collector_that_cannot_start_is_an_error) {
  collector_.fail_start = true;
  const auto outcome = run();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "no such process");
}

TEST_F(RecorderTest, progress_is_told) {
  int told = 0;
  options_.progress = [&](const Progress& progress) {
    ++told;
    EXPECT_GT(progress.events, 0u);
  };
  options_.duration = milliseconds(700);
  ASSERT_TRUE(run());
  EXPECT_GE(told, 1);
}

TEST_F(RecorderTest, a_command_outlives_a_failing_collector_and_is_waited_for) {
  for (const bool at_start : {true, false}) {
    auto child = Child::start({"sh", "-c", "sleep 0.1; exit 5"}, {});
    ASSERT_TRUE(child);
    collector_.fail_start = at_start;
    collector_.fail_after = 1;
    int warned = 0;
    options_.unrecorded = [&](const Error&) { ++warned; };
    (void)run(&*child);
    ASSERT_TRUE(child->ended()) << "left behind";
    EXPECT_EQ(child->ended()->exit_status, 5);
    EXPECT_EQ(warned, 1);
  }
}

}  // namespace
}  // namespace dmprof::capture
