#include "samples/simcard/scenario/table_fit.h"

#include <cmath>

#include <gmock/gmock.h>

#include "samples/simcard/config/embedded.h"

namespace dmprof::simcard {
namespace {

Scenario row() { return *read_scenario(*open_description("scenarios", "a11")); }

TEST(TableFit, StaysWithinItsBoundsAndFindsTheSameEveryTime) {
  const Result<TableFit> fit = fit_table(row(), 40);  // rough: what is found does not matter here
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_GT(fit->evaluations, 16u);
  ASSERT_EQ(fit->parameters.size(), 8u);
  for (const FittedParameter& p : fit->parameters) {
    EXPECT_GE(p.value, p.low * (1 - 1e-9)) << p.name;
    EXPECT_LE(p.value, p.high * (1 + 1e-9)) << p.name;
  }
  EXPECT_EQ(fit->figures.size(), 8u);
  EXPECT_EQ(table_fit_text(*fit), table_fit_text(*fit_table(row(), 40)));
}

TEST(TableFit, OtherRowsAreRefused) {
  Scenario other = row();
  other.experiment = "split";
  const Result<TableFit> fit = fit_table(other, 40);
  ASSERT_FALSE(fit);
  EXPECT_THAT(fit.error().message, testing::HasSubstr("a11.yaml:1: experiment: split is no batch-table"));
}

}  // namespace
}  // namespace dmprof::simcard
