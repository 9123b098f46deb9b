#include "dmprof/workload/lengths.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace dmprof::workload {
namespace {

std::vector<std::int64_t> drawn(const Lengths& lengths) {
  Random random(3);
  std::vector<std::int64_t> all(50001);
  for (auto& length : all) length = lengths.draw(random);
  std::sort(all.begin(), all.end());
  return all;
}

TEST(Lengths, EveryKindMatchesItsParameters) {
  EXPECT_EQ(drawn({Lengths::Kind::fixed, 77}).front(), 77);
  const auto uniform = drawn({Lengths::Kind::uniform, 1, 0, 10, 20});
  EXPECT_EQ(uniform.front(), 10);
  EXPECT_EQ(uniform.back(), 20);
  const auto lognormal = drawn({Lengths::Kind::lognormal, 500, 0.8});
  EXPECT_NEAR(static_cast<double>(lognormal[25000]), 500, 10);
  double sum = 0;
  for (const auto length : drawn({Lengths::Kind::geometric, 100})) sum += static_cast<double>(length);
  EXPECT_NEAR(sum / 50001, 100, 2);
}

TEST(Lengths, AreClampedToTheirRange) {
  const auto all = drawn({Lengths::Kind::lognormal, 500, 5, 100, 1000});
  EXPECT_EQ(all.front(), 100);
  EXPECT_EQ(all.back(), 1000);
}

TEST(Lengths, ImpossibleOnesAreRefused) {
  EXPECT_FALSE(Lengths({Lengths::Kind::fixed, 0}).check());
  EXPECT_FALSE(Lengths({Lengths::Kind::uniform, 1, 0, 20, 10}).check());
  EXPECT_FALSE(Lengths({Lengths::Kind::uniform, 1, 0, 0, 10}).check());
  EXPECT_FALSE(Lengths({Lengths::Kind::lognormal, 1, -1}).check());
  EXPECT_FALSE(Lengths({Lengths::Kind::fixed, 1e300}).check());
}

}  // namespace
}  // namespace dmprof::workload
