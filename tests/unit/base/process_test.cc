#include "dmprof/base/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace dmprof {
namespace {

TEST(Process, takes_a_zombie_and_a_missing_process_for_dead) {
  const std::uint64_t own = process_start(::getpid());
  EXPECT_NE(own, 0u);
  EXPECT_TRUE(is_alive(::getpid(), own));
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const std::uint64_t start = process_start(child);
  EXPECT_GE(start, own);
  EXPECT_TRUE(is_alive(child, start));
  ::kill(child, SIGKILL);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_EQ(process_start(child), 0u) << "a zombie";
  EXPECT_FALSE(is_alive(child, start));
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(process_start(child), 0u);
  EXPECT_FALSE(is_alive(child, start));
}

// Runs `body` where no further descriptor can be opened.
template <class Body>
auto without_descriptors(const Body& body) {
  rlimit usual{};
  EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  rlimit none = usual;
  none.rlim_cur = 0;
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto result = body();
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
  return result;
}

TEST(Process, out_of_descriptors_a_live_process_is_not_taken_for_dead_and_a_gone_one_is) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const std::uint64_t start = process_start(child);
  EXPECT_EQ(life_of(child, start), Life::runs);
  const auto look = [&] { return std::pair(life_of(child, start), process_start(child)); };
  EXPECT_EQ(without_descriptors(look), std::pair(Life::unknown, std::uint64_t{0}));
  EXPECT_EQ(life_of(child, start + 1), Life::ended);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(without_descriptors(look).first, Life::ended);
  EXPECT_EQ(life_of(child, start), Life::ended);
}

TEST(Process, a_pid_that_cannot_be_one_and_an_unknown_start_are_dead) {
  EXPECT_EQ(process_start(0), 0u);
  EXPECT_EQ(process_start(-1), 0u);
  EXPECT_FALSE(is_alive(-1, 0));
  EXPECT_FALSE(is_alive(::getpid(), 0));
  EXPECT_FALSE(is_alive(::getpid(), process_start(::getpid()) + 1)) << "a later process with the same pid";
}

TEST(Process, reads_the_start_behind_any_name_and_refuses_what_is_no_stat_file) {
  const std::string_view fields = " 1 7 7 0 -1 4194560 100 0 0 0 1 2 3 4 20 0 1 0 8812 9000000 900";
  const auto start_in = [fields](std::string_view head) {
    return process_start_in(std::string(head) + std::string(fields));
  };
  EXPECT_EQ(start_in("7 (plain) S"), 8812u);
  EXPECT_EQ(start_in("7 (a) b 1 2) (c) R"), 8812u);
  EXPECT_EQ(start_in("7 () R"), 8812u);
  EXPECT_EQ(start_in("7 (dead) Z"), 0u);
  EXPECT_EQ(start_in("7 (dead) X"), 0u);
  EXPECT_EQ(start_in("7 plain S"), 0u);
  for (const char* text : {"", ")", "7 (cut", "7 (cut)", "7 (cut) ", "7 (cut) S 1 2 3",
                           "7 (x) S 1 7 7 0 -1 4194560 100 0 0 0 1 2 3 4 20 0 1 0 "})
    EXPECT_EQ(process_start_in(text), 0u) << text;
}

}  // namespace
}  // namespace dmprof
