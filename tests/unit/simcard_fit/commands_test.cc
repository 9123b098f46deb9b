#include "samples/simcard/fit/commands.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "samples/simcard/fit/fit_file.h"
#include "tests/unit/simcard_fit/engine_recording.h"

namespace dmprof::twin {
namespace {

int status(const std::vector<std::string>& args) { return run_twin_command(args); }

TEST(Commands, KnowTheirNames) {
  EXPECT_TRUE(is_twin_command("fit"));
  EXPECT_TRUE(is_twin_command("predict"));
  EXPECT_FALSE(is_twin_command("scenarios"));
  EXPECT_FALSE(is_twin_command("--scenario"));
}

TEST(Commands, EndWithTheStatusOfTheirTrouble) {
  EXPECT_EQ(status({"fit", "--help"}), 0);
  EXPECT_EQ(status({"fit"}), 2);
  EXPECT_EQ(status({"fit", "a.dmprof"}), 2);  // where to?
  EXPECT_EQ(status({"predict"}), 2);
  EXPECT_EQ(status({"predict", "x", "--frobnicate"}), 2);
  EXPECT_EQ(status({"fit", "/nonexistent.dmprof", "-o", "/tmp/x"}), 6);
  EXPECT_EQ(status({"predict", "/nonexistent.yaml"}), 6);
}

TEST(Commands, PredictFromAFile) {
  const auto made = fit(std::vector<NamedRecording>{test::sound_recording().take()});
  ASSERT_TRUE(made.has_value());
  const std::string path = testing::TempDir() + "/commands_test.json";
  ASSERT_TRUE(write_fit(*made, path).has_value());
  EXPECT_EQ(status({"predict", path}), 0);
  EXPECT_EQ(status({"predict", path, "--set", "lookahead=2", "--set", "batch=2", "--json"}), 0);
  EXPECT_EQ(status({"predict", path, "--set", "lokahead=2"}), 2);
  EXPECT_EQ(status({"predict", path, "--set", "threads=2"}), 3);
  EXPECT_EQ(status({"fit", path, "-o", path + ".out"}), 4);  // that is no recording
  std::remove(path.c_str());
}

}  // namespace
}  // namespace dmprof::twin
