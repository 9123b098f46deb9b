#include "samples/simcard/fit/predict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/simcard_fit/engine_recording.h"

namespace dmprof::twin {
namespace {

using testing::Contains;
using testing::HasSubstr;

const Fit& sample() {
  static const Fit made = *fit(std::vector<NamedRecording>{test::sound_recording().take()});
  return made;
}

Prediction predicted(const std::string& set) {
  const auto question = parse_settings(sample(), set);
  EXPECT_TRUE(question.has_value()) << (question ? "" : question.error().message);
  auto prediction = predict(sample(), *question);
  EXPECT_TRUE(prediction.has_value()) << (prediction ? "" : prediction.error().message);
  return prediction ? *prediction : Prediction();
}

const Predicted* find(const Prediction& prediction, const std::string& name) {
  const auto found = std::find_if(prediction.figures.begin(), prediction.figures.end(),
                                  [&](const Predicted& p) { return p.name == name; });
  return found == prediction.figures.end() ? nullptr : &*found;
}

TEST(Predict, TheRecordedSettingsAreProfiledAndOthersAreNot) {
  EXPECT_TRUE(predicted("").profiled);
  EXPECT_TRUE(predicted("lookahead=3").profiled);
  EXPECT_FALSE(predicted("lookahead=4").profiled);
  EXPECT_FALSE(predicted("backing=throttle:9GB/s").profiled);
}

TEST(Predict, EveryFigureLiesInItsIntervalAndRatiosBelowOne) {
  for (const char* set :
       {"", "lookahead=8,resident=32KiB,cache_policy=2", "batch=2,prefetch_distance=16", "draft=none", "lookahead=0"}) {
    const Prediction prediction = predicted(set);
    EXPECT_GE(prediction.figures.size(), 8U) << set;
    for (const Predicted& each : prediction.figures) {
      EXPECT_LE(each.low, each.value) << each.name;
      EXPECT_GE(each.high, each.value) << each.name;
      EXPECT_GE(each.low, 0) << each.name;
      EXPECT_LE(each.high, each.unit == "ratio" ? 1 : 1e300) << each.name;
    }
  }
}

TEST(Predict, WithoutSpeculationThereIsNoAcceptance) {
  EXPECT_EQ(find(predicted("draft=none"), "acceptance_length"), nullptr);
  ASSERT_NE(find(predicted(""), "acceptance_length"), nullptr);
}

TEST(Predict, TheIntervalCoversUnknownVerdictsRightAndWrong) {
  // Known at lookahead 3 without a draw; beyond it the token behind a whole chain decides.
  const Prediction recorded = predicted("");
  EXPECT_DOUBLE_EQ(find(recorded, "acceptance_length")->low, find(recorded, "acceptance_length")->high);
  const Prediction longer = predicted("lookahead=8");
  EXPECT_LT(find(longer, "acceptance_length")->low, find(longer, "acceptance_length")->high);
}

TEST(Predict, WhatWasExtrapolatedIsSaid) {
  EXPECT_THAT(predicted("lookahead=8").assumptions, Contains(HasSubstr("positions 4 to 8")));
  EXPECT_THAT(predicted("prefetch_distance=9").assumptions, Contains(HasSubstr("in proportion to the distance")));
  EXPECT_THAT(predicted("batch=32,lookahead=8").assumptions, Contains(HasSubstr("a pass over")));
  EXPECT_THAT(predicted("backing=throttle:9GB/s").assumptions, Contains(HasSubstr("recorded link")));
}

TEST(Predict, ASlowerLinkAndASmallerCacheCostTime) {
  const double base = find(predicted("resident=16KiB,prefetch_distance=0"), "step_time_mean")->value;
  EXPECT_GT(find(predicted("resident=16KiB,prefetch_distance=0,backing=throttle:10MB/s,2us"), "step_time_mean")->value,
            base);
  EXPECT_LT(find(predicted("resident=64KiB,prefetch_distance=0"), "step_time_mean")->value, base);
}

TEST(Predict, ABudgetBelowTheLargestBlockIsRefused) {
  const auto question = parse_settings(sample(), "resident=100");
  ASSERT_TRUE(question.has_value());
  EXPECT_EQ(predict(sample(), *question).error().kind, ErrorKind::usage);
}

TEST(Predict, IsTheSameEveryTime) {
  const Prediction a = predicted("lookahead=6"), b = predicted("lookahead=6");
  for (std::size_t i = 0; i < a.figures.size(); ++i) EXPECT_EQ(a.figures[i].value, b.figures[i].value);
}

}  // namespace
}  // namespace dmprof::twin
