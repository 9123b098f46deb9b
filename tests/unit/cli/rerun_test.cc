#include "dmprof/cli/rerun.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>

#include "dmprof/store/writer.h"

namespace dmprof::cli {
namespace {

namespace fs = std::filesystem;

class RerunOfARecording : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "rerun-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    scratch_ = folder_ / "scratch";
    fs::create_directory(scratch_);
    ::setenv("TMPDIR", scratch_.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("TMPDIR");
    fs::remove_all(folder_);
  }

  fs::path record(const std::string& command) {
    const fs::path path = folder_ / "run.dmprof";
    auto writer = Writer::create(path.string(), {});
    EXPECT_TRUE(writer);
    EXPECT_TRUE((*writer)->set_environment("command", command));
    EXPECT_TRUE((*writer)->finish());
    return path;
  }

  fs::path folder_, scratch_;
};

bool held(int signal) {
  sigset_t set;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &set);
  return sigismember(&set, signal) == 1;
}

TEST_F(RerunOfARecording, holds_signals_and_a_folder_from_its_first_run_on_and_not_while_it_is_asked_for) {
  const fs::path recording = record("false");
  {
    auto rerun = Rerun::of(recording);
    ASSERT_TRUE(rerun) << rerun.error().message;
    EXPECT_FALSE(held(SIGINT) || held(SIGTERM) || held(SIGHUP)) << "Ctrl-C is an answer to \"Go on?\"";
    EXPECT_TRUE(fs::is_empty(scratch_));
    EXPECT_FALSE(rerun->run(rerun->as_recorded())) << "the command fails";
    EXPECT_TRUE(held(SIGINT) && held(SIGTERM) && held(SIGHUP));
    EXPECT_FALSE(fs::is_empty(scratch_));
  }
  EXPECT_FALSE(held(SIGINT) || held(SIGTERM) || held(SIGHUP));
  EXPECT_TRUE(fs::is_empty(scratch_));
}

}  // namespace
}  // namespace dmprof::cli
