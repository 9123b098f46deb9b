#include <gtest/gtest.h>

#include "samples/simcard/twin/description.h"

namespace dmprof::twin {
namespace {

TEST(CostCurve, NoTokensCostNothing) {
  EXPECT_EQ(CostCurve({{{1, 10, 1}}}).at(0), 0);
  EXPECT_EQ(CostCurve().at(5), 0);
}

TEST(CostCurve, OnePointStandsForACostInProportion) { EXPECT_DOUBLE_EQ(CostCurve({{{4, 100, 1}}}).at(6), 150); }

TEST(CostCurve, RunsStraightBetweenPointsAndGoesOnOutsideThem) {
  const CostCurve curve{{{2, 100, 9}, {4, 200, 9}, {8, 600, 9}}};
  EXPECT_DOUBLE_EQ(curve.at(2), 100);
  EXPECT_DOUBLE_EQ(curve.at(3), 150);
  EXPECT_DOUBLE_EQ(curve.at(6), 400);
  EXPECT_DOUBLE_EQ(curve.at(10), 800);
  EXPECT_DOUBLE_EQ(curve.at(1), 50);
}

TEST(CostCurve, NeverFallsBelowTheCheapestTokenSeen) {
  EXPECT_DOUBLE_EQ(CostCurve({{{4, 100, 9}, {5, 200, 9}}}).at(1), 25);   // the line would give -200
  EXPECT_DOUBLE_EQ(CostCurve({{{4, 200, 9}, {5, 100, 9}}}).at(20), 20);  // and here a fall without end
}

TEST(Bins, ADrawKeepsTheMean) {
  const Bins bins{{1, 2, 3, 10}};
  EXPECT_DOUBLE_EQ(bins.mean(), 4);
  simcard::Random random(7, "test");
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) sum += draw(bins, random);
  EXPECT_NEAR(sum / 100'000, 4, 0.05);
  EXPECT_EQ(draw(Bins(), random), 0);
}

}  // namespace
}  // namespace dmprof::twin
