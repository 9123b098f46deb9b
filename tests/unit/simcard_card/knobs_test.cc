#include "samples/simcard/knobs/knobs.h"

#include <gmock/gmock.h>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

namespace dmprof::simcard {
namespace {

using testing::HasSubstr;

class Knobs : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "simcard-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  Environment environment() {
    return [this](const char* name) -> const char* {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    };
  }
  std::string refusal() {
    Settings settings;
    const Status status = read_environment(environment(), settings);
    return status ? "accepted" : status.error().message;
  }
  std::map<std::string, std::string> variables;
  std::filesystem::path folder;
};

TEST_F(Knobs, VariablesOverrideTheScenario) {
  variables = {{"DM_DRAFT", "3b"}, {"DM_LOOKAHEAD", "8"}, {"DM_CACHE_POLICY", "2"}, {"DM_MAX_CONCURRENT", "4"}};
  Settings settings;
  ASSERT_TRUE(read_environment(environment(), settings));
  EXPECT_EQ(settings.draft_billions, 3);
  EXPECT_EQ(settings.lookahead, 8u);
  EXPECT_EQ(settings.cache_policy, 2u);
  EXPECT_EQ(settings.max_concurrent, 4u);
  EXPECT_EQ(draft_name(settings.draft_billions), "3b");
}

TEST_F(Knobs, SizesOfDraftsAsPeopleWriteThem) {
  for (const auto& [text, billions] :
       std::map<std::string, double>{{"1B", 1}, {"350m", 0.35}, {"0.5b", 0.5}, {"none", 0}}) {
    variables = {{"DM_DRAFT", text}};
    Settings settings;
    ASSERT_TRUE(read_environment(environment(), settings)) << text;
    EXPECT_DOUBLE_EQ(settings.draft_billions, billions);
  }
}

TEST_F(Knobs, NonsenseIsRefusedByName) {
  for (const char* text : {"3", "b", "-1b", "1e9b", "nanb", "infb", "3bb", "model.gguf", "99999b"}) {
    variables = {{"DM_DRAFT", text}};
    EXPECT_THAT(refusal(), HasSubstr("DM_DRAFT")) << text;
  }
  for (const char* text : {"-1", "65", "five", "5 ", "99999999999999999999"}) {
    variables = {{"DM_LOOKAHEAD", text}};
    EXPECT_THAT(refusal(), HasSubstr("DM_LOOKAHEAD")) << text;
  }
  variables = {{"DM_CACHE_POLICY", "3"}};
  EXPECT_THAT(refusal(), HasSubstr("DM_CACHE_POLICY"));
  variables = {{"DM_LOOKAHEAD", ""}};
  EXPECT_EQ(refusal(), "accepted");
}

TEST_F(Knobs, TheDriverFileIsMadeOnceAndReadAgain) {
  variables = {{"DM_SYSFS_ROOT", folder.string()}};
  const Result<Sysfs> made = Sysfs::open(environment(), false);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->interleave_path(), folder.string() + "/module/dm_corsair/parameters/interleave_sched");
  EXPECT_FALSE(*made->interleave());
  std::ofstream(made->interleave_path()) << "1\n";
  const Result<Sysfs> again = Sysfs::open(environment(), false);
  EXPECT_TRUE(*again->interleave());
  std::ofstream(made->interleave_path()) << "perhaps\n";
  EXPECT_THAT(again->interleave().error().message, HasSubstr("holds neither 0 nor 1"));
  std::filesystem::remove(made->interleave_path());
  EXPECT_FALSE(again->interleave());
}

TEST_F(Knobs, SimulationsThatBeginTogetherFindTheFileWhole) {
  for (int round = 0; round < 50; ++round) {
    const std::string root = (folder / std::to_string(round)).string();
    std::filesystem::create_directory(root);
    const Environment fresh = [&](const char* name) {
      return std::string_view(name) == "DM_SYSFS_ROOT" ? root.c_str() : nullptr;
    };
    std::vector<std::string> refusals(4);
    std::vector<std::thread> all;
    for (std::string& refusal : refusals) {
      all.emplace_back([&] {
        const Result<Sysfs> sysfs = Sysfs::open(fresh, true);
        if (!sysfs || !sysfs->interleave())
          refusal = sysfs ? sysfs->interleave().error().message : sysfs.error().message;
      });
    }
    for (std::thread& each : all) each.join();
    for (const std::string& refusal : refusals) ASSERT_EQ(refusal, "");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(root + "/module/dm_corsair/parameters"), {}), 1)
        << "nothing is left behind";
  }
}

TEST_F(Knobs, WhatIsWrongInTheDriverFileIsToldOnceAndTheLastSettingHolds) {
  variables = {{"DM_SYSFS_ROOT", folder.string()}};
  Result<Sysfs> sysfs = Sysfs::open(environment(), true);
  ASSERT_TRUE(sysfs) << sysfs.error().message;
  const std::string path = sysfs->interleave_path();
  EXPECT_EQ(sysfs->watch(), true);
  const auto looks = [&](int times) {
    testing::internal::CaptureStderr();
    for (int i = 0; i < times; ++i) EXPECT_EQ(sysfs->watch(), std::nullopt);
    return testing::internal::GetCapturedStderr();
  };
  std::ofstream(path) << "perhaps\n";
  EXPECT_EQ(looks(1), "") << "it may be half written";
  EXPECT_THAT(looks(1), HasSubstr("holds neither 0 nor 1"));
  EXPECT_EQ(looks(3), "") << "once is enough";
  std::ofstream(path, std::ios::trunc).close();
  std::filesystem::remove(path);
  EXPECT_THAT(looks(2), HasSubstr("No such file"));
  std::filesystem::create_directory(path);
  EXPECT_THAT(looks(2), HasSubstr("directory"));
  std::filesystem::remove(path);
  std::ofstream(path) << "0\n";
  EXPECT_EQ(sysfs->watch(), false);
}

TEST_F(Knobs, TheDefaultRootIsPrivateAndTheSameEveryTime) {
  variables = {{"XDG_RUNTIME_DIR", folder.string()}};
  const Result<Sysfs> first = Sysfs::open(environment(), true), second = Sysfs::open(environment(), false);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->interleave_path(), second->interleave_path());
  EXPECT_TRUE(*second->interleave());
  ASSERT_EQ(chmod((folder / "dm-simcard").c_str(), 0777), 0);
  EXPECT_THAT(Sysfs::open(environment(), true).error().message, HasSubstr("private"));
}

// A login that ended leaves the variable and takes the folder.
TEST_F(Knobs, ARunDirectoryThatIsGoneIsNone) {
  variables = {{"XDG_RUNTIME_DIR", (folder / "gone").string()}};
  const Result<Sysfs> sysfs = Sysfs::open(environment(), true);
  EXPECT_THAT(sysfs ? sysfs->interleave_path() : sysfs.error().message, HasSubstr("/tmp/dm-simcard-"));
  EXPECT_FALSE(std::filesystem::exists(folder / "gone"));
}

}  // namespace
}  // namespace dmprof::simcard
