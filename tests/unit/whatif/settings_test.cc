// Questions: what is understood, and what is refused with which words.
#include "analyzers/whatif/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/whatif/recordings.h"

namespace dmprof::whatif {
namespace {

using testing::HasSubstr;

Recording engine() {
  Recording recording;
  test::add_knob(recording, "lookahead", "5", "0..32");
  test::add_knob(recording, "cache_policy", "0", "0|1|2", "choice");
  test::add_knob(recording, "resident", "2097152", "0..", "integer", "bytes");
  test::add_knob(recording, "draft", "small.gguf", "none|ngram|FILE", "path");
  return recording;
}

Result<Asked> asked(const std::string& text) {
  static const Recording recording = engine();
  auto settings = parse_settings(text);
  if (!settings) return tl::unexpected(settings.error());
  return ask(recording, *settings);
}

TEST(Settings, several_knobs_at_once_and_what_stays_as_it_is_is_no_change) {
  const auto result = asked("lookahead=8,cache_policy=0,resident=4MiB");
  ASSERT_TRUE(result);
  ASSERT_EQ(result->changes.size(), 2u);
  EXPECT_EQ(result->changes[0].from, "5");
  EXPECT_EQ(result->changes[1].to, "4194304");
  EXPECT_EQ(result->values.at("cache_policy"), "0");
}

TEST(Settings, a_size_in_another_spelling_is_the_same_size) {
  const auto result = asked("resident=2MiB");
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->changes.empty());
}

TEST(Settings, a_knob_may_be_called_by_its_handle_but_only_once) {
  const auto result = asked("--lookahead=8");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->changes[0].knob, "lookahead");
  ASSERT_FALSE(asked("--lookahead=8,lookahead=7"));
  EXPECT_THAT(asked("--lookahead=8,lookahead=7").error().message, HasSubstr("given twice"));
}

TEST(Settings, an_unknown_knob_is_a_usage_error_with_the_nearest_name) {
  const auto result = asked("lookahed=8");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::usage);
  EXPECT_THAT(result.error().message, HasSubstr("did you mean lookahead?"));
}

TEST(Settings, a_knob_that_exists_elsewhere_cannot_be_answered_by_this_recording) {
  const auto result = asked("interleave_sched=1");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::cannot_answer);
  EXPECT_THAT(result.error().message, HasSubstr("registers no such knob"));
}

TEST(Settings, values_outside_the_range_are_refused_and_the_range_is_named) {
  for (const char* text : {"lookahead=33", "lookahead=-1", "lookahead=many", "lookahead=2.5", "cache_policy=3",
                           "lookahead=99999999999999999999999", "resident=99999999999TiB"}) {
    const auto result = asked(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().kind, ErrorKind::usage) << text;
  }
  EXPECT_THAT(asked("cache_policy=3").error().message, HasSubstr("0|1|2"));
  EXPECT_TRUE(asked("draft=other.gguf"));  // FILE stands for anything
}

TEST(Settings, what_is_no_list_of_knobs_and_values_is_refused) {
  for (const char* text : {"", ",", "lookahead", "lookahead=", "=8", "lookahead=8,", "lookahead=8,lookahead=8"}) {
    const auto result = asked(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().kind, ErrorKind::usage) << text;
  }
}

TEST(Settings, a_recording_without_knobs_says_so) {
  const Recording recording;
  const std::vector<Setting> settings = {{"lookahead", "8"}};
  const auto result = ask(recording, settings);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("it has none"));
}

}  // namespace
}  // namespace dmprof::whatif
