#include <fcntl.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

#include "tests/unit/attach/child_engine.h"

namespace dmprof::attach {
namespace {

using Attach = AttachTest;

TEST_F(Attach, records_spans_phases_and_counters_with_names_and_times) {
  ChildEngine engine([](const ChildEngine::Child& child) {
    child.ready();
    child.wait();
    dmprof_thread_name("worker");
    dmprof_track* track = dmprof_thread_track();
    dmprof_set_step(track, 7);
    dmprof_begin_arg(track, dmprof_name("step"), 99);
    dmprof_phase(track, dmprof_name("draft"));
    dmprof_phase(track, dmprof_name("verify"));
    dmprof_end(track);
    dmprof_counter(track, dmprof_name("depth"), 2.5);
  });
  ASSERT_TRUE(engine.wait_ready());
  test::VectorSink sink;
  AttachCollector collector(options_for(engine.pid()));
  ASSERT_TRUE(collector.start(sink));
  const auto monotonic = [] {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return TimeNs{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  };
  const TimeNs before = monotonic();
  engine.go();
  poll_to_the_end(collector);
  const TimeNs after = monotonic();
  constexpr TimeNs conversion = 1'000'000;  // of time stamps to nanoseconds, over this short a base

  const auto slices = sink.of<Slice>();
  ASSERT_EQ(slices.size(), 3u);
  EXPECT_EQ(sink.name(slices[0].name), "draft");
  EXPECT_EQ(sink.name(slices[1].name), "verify");
  EXPECT_EQ(sink.name(slices[2].name), "step");
  EXPECT_EQ(slices[2].argument, 99u);
  EXPECT_EQ(slices[2].step, 7u);
  EXPECT_EQ(slices[0].start + slices[0].duration, slices[1].start);
  EXPECT_GT(slices[2].start, before - conversion);
  EXPECT_LT(slices[2].start + slices[2].duration, after + conversion);
  ASSERT_EQ(sink.of<Counter>().size(), 1u);
  EXPECT_EQ(sink.of<Counter>()[0].value, 2.5);
  EXPECT_NE(sink.track("worker"), 0u);
  EXPECT_EQ(sink.processes.at(0).name, "child");
  EXPECT_EQ(sink.environment["engine_version"], "1.2");
  EXPECT_GE(sink.syncs.size(), 1u);
  EXPECT_LT(std::abs(static_cast<double>(sink.syncs[0].domain_time - sink.syncs[0].monotonic)), 1e6);
  expect_balance(sink);
}

TEST_F(Attach, attaches_detaches_and_attaches_again) {
  ChildEngine engine([](const ChildEngine::Child& child) {
    child.ready();
    dmprof_track* track = dmprof_thread_track();
    for (int round = 1; round <= 3; ++round) {
      child.wait();
      for (int i = 0; i < round * 10; ++i) dmprof_instant(track, dmprof_name("tick"), static_cast<std::uint64_t>(i));
      child.ready();
    }
    child.wait();
  });
  ASSERT_TRUE(engine.wait_ready());
  for (const std::size_t expected : {10u, 0u, 30u}) {
    test::VectorSink sink;
    AttachCollector collector(options_for(engine.pid()));
    const bool recorded = expected != 0;  // the second round goes unrecorded
    if (recorded) {
      ASSERT_TRUE(collector.start(sink));
    }
    engine.go();
    ASSERT_TRUE(engine.wait_ready());
    if (!recorded) continue;
    ASSERT_TRUE(collector.stop());
    EXPECT_EQ(sink.of<Instant>().size(), expected);
    EXPECT_EQ(sink.emitted_by(1), expected);
    expect_balance(sink);
  }
  engine.go();
  EXPECT_EQ(engine.join(), 0);
}

TEST_F(Attach, a_fact_about_the_model_is_no_knob_and_one_about_anything_else_is_no_fact) {
  ChildEngine engine([](const ChildEngine::Child& child) {
    const dmprof_knob layers = {"model.layers", "12", "fact", "", "fact", "", ""};
    const dmprof_knob command = {"command", "rm -rf /", "fact", "", "fact", "", ""};
    dmprof_knob_register(&layers);
    dmprof_knob_register(&command);
    child.ready();
    child.wait();
  });
  ASSERT_TRUE(engine.wait_ready());
  test::VectorSink sink;
  AttachCollector collector(options_for(engine.pid()));
  ASSERT_TRUE(collector.start(sink));
  ASSERT_TRUE(collector.stop());
  EXPECT_EQ(sink.environment.at("model.layers"), "12");
  EXPECT_FALSE(sink.environment.contains("command"));
  ASSERT_EQ(sink.knobs.size(), 1u);
  EXPECT_EQ(sink.knobs[0].name, "command");
  engine.go();
  EXPECT_EQ(engine.join(), 0);
}

TEST_F(Attach, tells_knobs_capacities_and_virtual_clocks_to_every_new_collector) {
  ChildEngine engine([](const ChildEngine::Child& child) {
    const dmprof_knob lookahead = {"lookahead", "4", "integer", "1..16", "environment", "DM_LOOKAHEAD", "tokens"};
    const std::uint32_t knob = dmprof_knob_register(&lookahead);
    dmprof_capacity_info tier{};
    tier.name = "resident", tier.kind = "tier", tier.managed = 1, tier.size_bytes = 8 << 20;
    const std::uint32_t id = dmprof_capacity(&tier);
    const std::uint32_t clock = dmprof_clock_register("card", DMPROF_CLOCK_VIRTUAL);
    dmprof_track* track = dmprof_track_create("dma", clock, 0);
    for (int round = 0; round < 2; ++round) {
      child.ready();
      child.wait();
      dmprof_clock_set(clock, 5'000);
      dmprof_transfer_event transfer{};
      transfer.start = 4'000, transfer.duration = 1'000, transfer.to = id, transfer.bytes = transfer.useful_bytes = 64;
      dmprof_transfer(track, &transfer);
      dmprof_instant(track, 0, 1);
      if (round == 0) dmprof_knob_set(knob, "8");
    }
    child.ready();
    child.wait();
  });
  for (const char* value : {"4", "8"}) {
    ASSERT_TRUE(engine.wait_ready());
    test::VectorSink sink;
    AttachCollector collector(options_for(engine.pid()));
    ASSERT_TRUE(collector.start(sink));
    ASSERT_GE(sink.knobs.size(), 1u);
    EXPECT_EQ(sink.knobs[0].value, value);
    EXPECT_EQ(sink.knobs[0].handle, "DM_LOOKAHEAD");
    EXPECT_EQ(sink.knobs[0].since, 0);
    ASSERT_EQ(sink.capacities.size(), 1u);
    EXPECT_EQ(sink.capacities[0].size_bytes, 8u << 20);
    engine.go();
    poll_until(collector, [&] { return sink.of<Instant>().size() == 1 && (*value == '8' || sink.knobs.size() == 2); });
    ASSERT_TRUE(collector.stop());
    const Transfer transfer = sink.of<Transfer>().at(0);
    EXPECT_EQ(transfer.start, 4'000);
    EXPECT_EQ(transfer.duration, 1'000);
    EXPECT_EQ(transfer.to, 1u);
    EXPECT_EQ(sink.of<Instant>()[0].time, 5'000);
    EXPECT_EQ(sink.clocks.at(sink.tracks.at(sink.track("dma") - 1).clock - 1).kind, ClockKind::virtual_time);
    if (*value == '4') {
      EXPECT_GT(sink.knobs[1].since, 0);  // changed while we looked
    }
    expect_balance(sink);
  }
}

TEST_F(Attach, takes_a_span_that_was_open_at_the_attachment_for_unseen_and_one_open_at_the_end_for_unfinished) {
  ChildEngine engine([](const ChildEngine::Child& child) {
    dmprof_track* track = dmprof_thread_track();
    dmprof_begin(track, dmprof_name("before"));
    child.ready();
    child.wait();
    dmprof_begin(track, dmprof_name("inside"));
    dmprof_end(track);
    dmprof_end(track);
    dmprof_begin(track, dmprof_name("open"));
    child.ready();
    child.wait();
    dmprof_end(track);
  });
  ASSERT_TRUE(engine.wait_ready());
  test::VectorSink sink;
  AttachCollector collector(options_for(engine.pid()));
  ASSERT_TRUE(collector.start(sink));
  engine.go();
  ASSERT_TRUE(engine.wait_ready());
  ASSERT_TRUE(collector.stop());
  ASSERT_EQ(sink.of<Slice>().size(), 1u);
  EXPECT_EQ(sink.name(sink.of<Slice>()[0].name), "inside");
  EXPECT_EQ(sink.lost(1, "unfinished"), 1u);
  EXPECT_EQ(sink.emitted_by(1), 2u);
}

TEST_F(Attach, lets_only_one_collector_in_at_a_time) {
  ChildEngine engine([](const ChildEngine::Child& child) {
    child.ready();
    child.wait();
  });
  ASSERT_TRUE(engine.wait_ready());
  test::VectorSink first_sink, second_sink;
  AttachCollector first(options_for(engine.pid())), second(options_for(engine.pid()));
  ASSERT_TRUE(first.start(first_sink));
  const Status refused = second.start(second_sink);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::environment);
  EXPECT_NE(refused.error().message.find("already being recorded by process " + std::to_string(::getpid())),
            std::string::npos);
  ASSERT_TRUE(first.stop());
  AttachCollector third(options_for(engine.pid()));
  EXPECT_TRUE(third.start(second_sink));
  EXPECT_TRUE(third.stop());
}

TEST_F(Attach, says_why_a_process_cannot_be_recorded) {
  test::VectorSink sink;
  const auto error_of = [&](pid_t pid) {
    AttachCollector collector(options_for(pid));
    const Status status = collector.start(sink);
    EXPECT_FALSE(status);
    return status ? Error{} : status.error();
  };
  EXPECT_EQ(error_of(::getpid()).kind, ErrorKind::environment);
  EXPECT_NE(error_of(::getpid()).message.find("has no dmprof SDK"), std::string::npos);
  EXPECT_NE(error_of(999'999'999).message.find("does not exist"), std::string::npos);
  EXPECT_NE(error_of(-1).message.find("does not exist"), std::string::npos);
}

TEST_F(Attach, tells_only_the_beginning_of_a_long_command_line) {
  int ready[2];
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  std::string words = ": ";  // a shell that reads its pipe and is called with much text, multi-byte characters too
  for (int i = 0; i < 1500; ++i) words += "\u00e9";
  int input[2];
  ASSERT_EQ(::pipe(input), 0);
  const pid_t other = ::fork();
  if (other == 0) {
    ::dup2(input[0], 0);
    ::close(input[1]);
    ::execl("/bin/sh", "sh", "-c", ("read line; " + words).c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ready[1]);
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 0);  // closed by exec
  const auto page = find_engine(other);
  ::close(input[1]);
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  ASSERT_FALSE(page);
  const std::string& message = page.error().message;
  EXPECT_LT(message.size(), 300u);
  EXPECT_NE(message.find("(sh -c read line; : \u00e9"), std::string::npos) << message;
  EXPECT_NE(message.find("\u00e9...) has no dmprof SDK"), std::string::npos) << message;
}

TEST_F(Attach, says_that_a_process_of_another_user_is_not_ours) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs a second user";
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t other = ::fork();
  if (other == 0) {
    if (::setuid(65534) != 0) ::_exit(1);
    (void)!::write(ready[1], "x", 1);
    ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const auto page = find_engine(other);
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  ASSERT_FALSE(page);
  EXPECT_NE(page.error().message.find("belongs to another user (uid 65534)"), std::string::npos);
}

TEST_F(Attach, lists_the_engines_that_run_and_clears_away_dead_ones) {
  ChildEngine engine(
      [](const ChildEngine::Child& child) {
        child.ready();
        child.wait();
      },
      "alpha");
  ChildEngine dead(
      [](const ChildEngine::Child& child) {
        child.ready();
        child.wait();
      },
      "beta");
  ASSERT_TRUE(engine.wait_ready());
  ASSERT_TRUE(dead.wait_ready());
  const pid_t dead_pid = dead.pid();
  dead.kill();
  dead.join();
  EXPECT_TRUE(std::filesystem::exists(page_path(dead_pid)));
  const auto engines = list_engines();
  ASSERT_TRUE(engines);
  const auto named = [&](const char* name) {
    return std::count_if(engines->begin(), engines->end(), [&](const EngineInfo& e) { return e.name == name; });
  };
  EXPECT_EQ(named("alpha"), 1);
  EXPECT_EQ(named("beta"), 0);
  EXPECT_FALSE(std::filesystem::exists(page_path(dead_pid)));
}

TEST_F(Attach, clears_away_unfinished_pages_of_processes_that_are_gone_and_nothing_else) {
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ::waitpid(gone, nullptr, 0);
  ChildEngine engine([](const ChildEngine::Child& child) {
    child.ready();
    child.wait();
  });
  ASSERT_TRUE(engine.wait_ready());
  const std::string folder = runtime + "/dmprof/";
  const std::string dead = "." + std::to_string(gone);
  const std::vector<std::string> kept = {"." + std::to_string(engine.pid()) + ".1f.new",
                                         dead + ".1f.old",
                                         std::to_string(gone) + ".1f.new",
                                         ".new",
                                         "..new",
                                         ".-1.1f.new",
                                         ".0.1f.new",
                                         ".99999999999999999999.1f.new",
                                         ".4294967297.1f.new",
                                         dead + "x.1f.new",
                                         dead + ".new.d"};
  for (const std::string& name : kept) std::ofstream(folder + name) << "x";
  std::ofstream(folder + dead + ".1f.new") << "x";
  std::filesystem::create_directory(folder + dead + ".2f.new");
  ASSERT_TRUE(list_engines());
  EXPECT_FALSE(std::filesystem::exists(folder + dead + ".1f.new"));
  EXPECT_TRUE(std::filesystem::exists(folder + dead + ".2f.new"));
  for (const std::string& name : kept) EXPECT_TRUE(std::filesystem::exists(folder + name)) << name;
}

}  // namespace
}  // namespace dmprof::attach
