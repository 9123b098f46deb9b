#include "dmprof/base/suggest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dmprof {
namespace {

const std::vector<std::string> commands = {"run", "attach", "diagnose", "doctor", "metrics"};

TEST(Suggest, counts_a_swap_of_neighbours_as_one_edit) {
  EXPECT_EQ(edit_distance("diagonse", "diagnose"), 1u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Suggest, finds_the_nearest_name) {
  EXPECT_EQ(nearest("diagonse", commands), "diagnose");
  EXPECT_EQ(nearest("metric", commands), "metrics");
  EXPECT_EQ(nearest("attahc", commands), "attach");
}

TEST(Suggest, takes_what_differs_only_in_case_first) {
  EXPECT_EQ(nearest("ATTACH", commands), "attach");
  const std::vector<std::string> both = {"runs", "RUN"};
  EXPECT_EQ(nearest("run", both), "RUN");
}

TEST(Suggest, completes_a_beginning_of_three_letters) { EXPECT_EQ(nearest("diag", commands), "diagnose"); }

TEST(Suggest, says_nothing_when_nothing_is_near) {
  EXPECT_EQ(nearest("xyzzy", commands), "");
  EXPECT_EQ(nearest("", commands), "");
  EXPECT_EQ(nearest(std::string(100000, 'd'), commands), "");
  EXPECT_EQ(did_you_mean("xyzzy", commands), "");
}

}  // namespace
}  // namespace dmprof
