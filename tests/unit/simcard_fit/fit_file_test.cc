#include "samples/simcard/fit/fit_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "tests/unit/simcard_fit/engine_recording.h"

namespace dmprof::twin {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const Fit& sample() {
  static const Fit made = *fit(std::vector<NamedRecording>{test::sound_recording().take()});
  return made;
}

TEST(FitFile, BothFormsReadBackAsWhatWasWritten) {
  for (const bool json : {false, true}) {
    const std::string text = to_text(sample(), json);
    const auto back = parse_fit(text, "f");
    ASSERT_TRUE(back.has_value()) << back.error().message;
    EXPECT_EQ(to_text(*back, json), text);
    EXPECT_EQ(to_text(*back, !json), to_text(sample(), !json));
  }
}

TEST(FitFile, TheYamlFormExplainsItself) {
  const std::string text = to_text(sample(), false);
  EXPECT_THAT(text, StartsWith("# A twin of dm-engine"));
  for (const char* key : {"\nacceptance:", "\nlink:", "\nhabits:", "\ntarget:", "\ndrafts:", "\nrequests:",
                          "latency_ns: 2000", "\"?110111?111?1?\""}) {
    EXPECT_THAT(text, HasSubstr(key));
  }
}

TEST(FitFile, IsWrittenWholeOrNotAtAll) {
  const std::string path = testing::TempDir() + "/fit_file_test.yaml";
  ASSERT_TRUE(write_fit(sample(), path).has_value());
  const auto back = read_fit(path);
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(std::ifstream(path + ".part").good(), false);
  std::remove(path.c_str());
  EXPECT_EQ(read_fit(path).error().kind, ErrorKind::environment);
  EXPECT_EQ(write_fit(sample(), "/nonexistent/folder/x.yaml").error().kind, ErrorKind::environment);
}

TEST(FitFile, OnlyAnotherFitIsReplaced) {
  for (const char* name : {"/fit_replaced.yaml", "/fit_replaced.json"}) {
    const std::string path = testing::TempDir() + name;
    ASSERT_TRUE(write_fit(sample(), path).has_value());
    EXPECT_TRUE(write_fit(sample(), path).has_value()) << "a fit by a fit";
    for (const char* notes : {"notes\n", "run dm-simcard fit tomorrow\n", "{\"format\": 1, \"mine\": 2}\n",
                              "x: \"format\": 1\n", "# A twin of dm-engine would be nice\n"}) {
      std::ofstream(path) << notes;
      EXPECT_EQ(write_fit(sample(), path).error().kind, ErrorKind::environment) << notes;
      std::ifstream in(path);
      EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), notes);
    }
    std::remove(path.c_str());
  }
}

struct Damage {
  const char* name;
  const char* from;
  const char* to;
  const char* says;
};

class Damaged : public testing::TestWithParam<Damage> {};

TEST_P(Damaged, IsRefusedWithItsPlace) {
  std::string text = to_text(sample(), false);
  const std::size_t at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(GetParam().from).size(), GetParam().to);
  const auto result = parse_fit(text, "twin.yaml");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(result.error().message, StartsWith("twin.yaml:"));
  EXPECT_THAT(result.error().message, HasSubstr(GetParam().says));
  EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    All, Damaged,
    testing::Values(Damage{"AnotherVersion", "format: 1", "format: 2", "format"},
                    Damage{"AMissingKey", "latency_ns: 2000", "lat: 2000", "latency_ns: is missing"},
                    Damage{"ATextForANumber", "latency_ns: 2000", "latency_ns: soon", "whole number"},
                    Damage{"ANegativeTime", "latency_ns: 2000", "latency_ns: -5", "whole number"},
                    Damage{"NotANumber", "accept_step_ns: 23.0", "accept_step_ns: nan", "must be a number"},
                    Damage{"ABandwidthOfZero", "bytes_per_second: 1000000000.0", "bytes_per_second: 0",
                           "bytes_per_second"},
                    Damage{"AWordForTruth", "imitated: true", "imitated: maybe", "true or false"},
                    Damage{"ABlockThatIsNotThere", "[\"qkv\",0,1]", "[\"qkv\",0,7]", "whole number from 0 to 3"},
                    Damage{"AnOperationWithoutCost", "[\"qkv\",0,1]", "[\"gemm\",0,1]", "costs"},
                    Damage{"AVerdictOfNonsense", "?110111", "?11x111", "0, 1 and ?"},
                    Damage{"ABatchOfZero", "batch: 1", "batch: 0", "batch"},
                    Damage{"AnUnknownPolicy", "cache_policy: 0", "cache_policy: 9", "cache_policy"},
                    Damage{"APromptOfNothing", "prompt_tokens: 10", "prompt_tokens: 0", "prompt_tokens"},
                    Damage{"AListForAMap", "link:", "link: []\nlonk:", "imitated: is missing"},
                    Damage{"BrokenYaml", "habits:", "habits: [", "dm-simcard fit"}),
    [](const auto& each) { return each.param.name; });

TEST(FitFile, ForeignTextIsRefused) {
  for (const char* text :
       {"", "[]", "hello", "{}", "\x01\x02", "- a\n- b", "{\"format\": {\"format\": 1}}", "a: &a [*a]"}) {
    const auto result = parse_fit(text, "x");
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().kind, ErrorKind::bad_input);
  }
}

TEST(FitFile, EveryTruncationIsRefusedOrWhole) {
  const std::string text = to_text(sample(), true);
  for (std::size_t length = 0; length + 2 < text.size(); length += 97)
    EXPECT_FALSE(parse_fit(text.substr(0, length), "x").has_value()) << length;
}

}  // namespace
}  // namespace dmprof::twin
