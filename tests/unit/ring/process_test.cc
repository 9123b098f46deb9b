#include "dmprof/ring/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dmprof::ring {
namespace {

TEST(Process, takes_a_zombie_and_a_missing_process_for_dead) {
  EXPECT_NE(start_time(::getpid()), 0u);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_EQ(start_time(child), 0u);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(start_time(child), 0u);
  EXPECT_EQ(start_time(-1), 0u);
}

TEST(Process, replaces_control_bytes_and_broken_utf8_in_foreign_text) {
  const auto clean = [](const std::string& text) { return clean_text(text.data(), text.size()); };
  EXPECT_EQ(clean("plain"), "plain");
  EXPECT_EQ(clean("\xe7\xa7\x91 caf\xc3\xa9"), "\xe7\xa7\x91 caf\xc3\xa9");
  EXPECT_EQ(clean("a\x1b[2Jb\n"), "a?[2Jb?");
  EXPECT_EQ(clean("\xc0\xaf \xff \xe7\xa7"), "?? ? ??");
  EXPECT_EQ(clean("\xed\xa0\x80"), "???");
}

}  // namespace
}  // namespace dmprof::ring
