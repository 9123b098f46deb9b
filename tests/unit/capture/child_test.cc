#include "dmprof/capture/child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "dmprof/capture/stop_signals.h"

namespace dmprof::capture {
namespace {

ChildEnd wait_for(Child& child) {
  while (true) {
    if (const auto end = child.ended()) return *end;
    ::usleep(1000);
  }
}

TEST(Child, reports_its_exit_status) {
  auto child = Child::start({"sh", "-c", "exit 7"}, {});
  ASSERT_TRUE(child) << child.error().message;
  const ChildEnd end = wait_for(*child);
  EXPECT_EQ(end.exit_status, 7);
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.text(), "exit status 7");
}

TEST(Child, reports_the_signal_that_killed_it) {
  auto child = Child::start({"sh", "-c", "kill -KILL $$"}, {});
  ASSERT_TRUE(child);
  const ChildEnd end = wait_for(*child);
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_EQ(end.text(), "killed by SIGKILL");
}

TEST(Child, gets_the_variables_in_place_of_inherited_ones) {
  ::setenv("CHILD_TEST", "old", 1);
  auto child = Child::start({"sh", "-c", "test \"$CHILD_TEST\" = new"}, {{"CHILD_TEST", "new"}});
  ASSERT_TRUE(child);
  EXPECT_EQ(wait_for(*child).exit_status, 0);
}

TEST(Child, does_not_inherit_the_recorder_s_signal_handling) {
  ::signal(SIGPIPE, SIG_IGN);
  auto signals = StopSignals::take();
  ASSERT_TRUE(signals);
  auto child = Child::start({"sh", "-c", "kill -TERM $$; exit 3"}, {});
  ASSERT_TRUE(child);
  EXPECT_EQ(wait_for(*child).signal, SIGTERM) << "a blocked SIGTERM would have let it exit with 3";
  auto piped = Child::start({"sh", "-c", "kill -PIPE $$; exit 3"}, {});
  ASSERT_TRUE(piped);
  EXPECT_EQ(wait_for(*piped).signal, SIGPIPE) << "an ignored SIGPIPE would have let it exit with 3";
}

TEST(Child, that_does_not_exist_is_an_environment_error_that_names_it) {
  const auto child = Child::start({"/no/such/program"}, {});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().kind, ErrorKind::environment);
  EXPECT_NE(child.error().message.find("/no/such/program"), std::string::npos);
}

TEST(StopSignals, are_caught_instead_of_ending_the_program) {
  auto signals = StopSignals::take();
  ASSERT_TRUE(signals);
  ::kill(::getpid(), SIGTERM);
  const auto caught = signals->wait(1000);
  ASSERT_TRUE(caught);
  EXPECT_EQ(caught->number, SIGTERM);
  EXPECT_FALSE(caught->from_terminal);
  EXPECT_FALSE(signals->wait(0));
}

}  // namespace
}  // namespace dmprof::capture
