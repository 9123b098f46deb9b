// The SDK depends on nothing, so it has a copy of dmprof::process_start of its own: both say the same.
#include "dmprof/base/process.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include "tests/unit/sdk/in_child.h"

extern "C" {
#include "dmprof/sdk/state.h"
}

namespace dmprof {
namespace {

TEST(SdkProcess, agrees_with_the_collector_about_the_living_the_zombies_and_the_gone) {
  EXPECT_EQ(dmprof_process_start_(::getpid()), process_start(::getpid()));
  int link[2];
  ASSERT_EQ(::pipe(link), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_NAME, "a) Z (b c", 0, 0, 0);
    (void)!::write(link[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(link[0], &byte, 1), 1);
  EXPECT_NE(dmprof_process_start_(child), 0u);
  EXPECT_EQ(dmprof_process_start_(child), process_start(child));
  ::kill(child, SIGKILL);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_EQ(dmprof_process_start_(child), 0u) << "a zombie";
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(dmprof_process_start_(child), 0u);
  EXPECT_EQ(dmprof_process_start_(-1), 0u);
}

TEST(SdkProcess, an_engine_out_of_descriptors_does_not_take_its_recorder_for_dead) {
  const std::uint64_t own = dmprof_process_start_(::getpid());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(dmprof_process_lives_(::getpid(), own));
  EXPECT_FALSE(dmprof_process_lives_(::getpid(), own + 1));
  EXPECT_FALSE(dmprof_process_lives_(child, own));
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  rlimit none = usual;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const int lives = dmprof_process_lives_(::getpid(), own), gone = dmprof_process_lives_(child, own);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
  EXPECT_TRUE(lives);
  EXPECT_FALSE(gone);
}

}  // namespace
}  // namespace dmprof
