// The SDK has one state for the whole process: every test runs in a child of its own.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include "dmprof/sdk/dmprof.h"

namespace dmprof {

class SdkTest : public testing::Test {
 protected:
  SdkTest() {
    char pattern[] = "/tmp/dmprof-test-XXXXXX";
    runtime = ::mkdtemp(pattern);
    ::setenv("XDG_RUNTIME_DIR", runtime.c_str(), 1);
    ::unsetenv("DMPROF_CONTROL");
  }
  ~SdkTest() override { std::filesystem::remove_all(runtime); }

  // Runs `body`, whose expectations print from the child and make this test fail.
  static void in_child(const std::function<void()>& body) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      body();
      ::_exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = -1;
    ::waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0) << "see the child's output above";
  }
  std::string runtime;
};

}  // namespace dmprof
