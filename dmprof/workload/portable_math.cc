#include "dmprof/workload/portable_math.h"

#include <cmath>
#include <limits>

namespace dmprof::workload {
namespace {

// ln 2 in two parts: the high one has 32 significant bits, so that k * kLn2High is exact for |k| < 2^20.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

// x = k ln 2 + r with |r| <= ln 2 / 2; e^r by its Taylor series, whose 14th term is below 2^-57.
double portable_exp(double x) {
  if (std::isnan(x)) return x;
  if (x > 709.782712893384) return kInfinity;
  if (x < -745.2) return 0;
  const double scaled = x * (1 / (kLn2High + kLn2Low));
  const int k = static_cast<int>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double sum = 1;
  for (int n = 14; n >= 1; --n) sum = 1 + r / n * sum;
  return std::ldexp(sum, k);
}

// x = m 2^k with m in [sqrt 1/2, sqrt 2); log m = 2 artanh s, s = (m - 1) / (m + 1), |s| < 0.1716, by its series.
double portable_log(double x) {
  if (std::isnan(x) || x < 0) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return -kInfinity;
  if (x == kInfinity) return x;
  int k = 0;
  double m = std::frexp(x, &k);  // [1/2, 1)
  if (m < 0x1.6a09e667f3bcdp-1) {
    m *= 2;
    --k;
  }
  const double s = (m - 1) / (m + 1);
  const double square = s * s;
  double sum = 0;
  for (int n = 25; n >= 3; n -= 2) sum = (sum + 1.0 / n) * square;
  return k * kLn2High + (2 * s + (2 * s * sum + k * kLn2Low));
}

double portable_pow(double x, double y) {
  if (y == 0) return 1;
  if (x == 0) return y > 0 ? 0 : kInfinity;
  return portable_exp(y * portable_log(x));
}

}  // namespace dmprof::workload
