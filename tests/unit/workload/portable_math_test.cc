#include "dmprof/workload/portable_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace dmprof::workload {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(PortableMath, AgreesWithTheLibraryToFourUnitsInTheLastPlace) {
  for (int i = -7000; i <= 7000; ++i) {
    const double x = i * 0.1 + 0.037;
    EXPECT_NEAR(portable_exp(x) / std::exp(x), 1, 9e-16) << x;
  }
  for (int i = 1; i <= 5000; ++i) {
    for (const double scale : {1e-300, 1e-9, 0.0003, 1.0, 1e9, 1e300}) {
      const double x = i * scale;
      EXPECT_NEAR(portable_log(x), std::log(x), 9e-16 * std::max(1.0, std::abs(std::log(x)))) << x;
    }
  }
  for (int i = 1; i <= 500; ++i) EXPECT_NEAR(portable_pow(i, -1.1) / std::pow(i, -1.1), 1, 9e-15);
}

TEST(PortableMath, EdgesOfTheRange) {
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_exp(-1000), 0);
  EXPECT_EQ(portable_exp(1000), kInfinity);
  EXPECT_EQ(portable_exp(-kInfinity), 0);
  EXPECT_TRUE(std::isnan(portable_exp(std::nan(""))));
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_EQ(portable_log(0), -kInfinity);
  EXPECT_EQ(portable_log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(portable_log(-1)));
  EXPECT_EQ(portable_pow(0, 0), 1);
  EXPECT_EQ(portable_pow(0, 2), 0);
}

// The same bits on every machine: kept as bits.
TEST(PortableMath, BitsAreFixed) {
  const auto bits = [](double x) {
    std::uint64_t word;
    std::memcpy(&word, &x, sizeof word);
    return word;
  };
  EXPECT_EQ(bits(portable_exp(1)), 0x4005bf0a8b14576au);
  EXPECT_EQ(bits(portable_log(10)), 0x40026bb1bbb55516u);
}

}  // namespace
}  // namespace dmprof::workload
