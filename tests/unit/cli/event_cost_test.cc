#include "dmprof/cli/event_cost.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace dmprof::cli {
namespace {

class EventCost : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "event-cost-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    ::setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(EventCost, is_a_time_that_an_event_can_take) {
  const Result<double> cost = measure_event_cost();
  ASSERT_TRUE(cost) << cost.error().message;
  EXPECT_GT(*cost, 1);    // ns: no clock can be read and 64 bytes written in less
  EXPECT_LT(*cost, 1e5);  // not even under a sanitizer
}

TEST_F(EventCost, is_not_given_when_events_were_dropped_while_it_was_measured) {
  const Result<double> cost = measure_event_cost(64 << 10);
  ASSERT_FALSE(cost);
  EXPECT_EQ(cost.error().kind, ErrorKind::environment);
  EXPECT_NE(cost.error().message.find("did not hold every event"), std::string::npos) << cost.error().message;
}

}  // namespace
}  // namespace dmprof::cli
