#include "dmprof/workload/portable_math.h"

#include <cmath>
#include <limits>

namespace dmprof::workload {
namespace {

constexpr double ln2 = 0.69314718055994530942;

}  // namespace

// x = k ln 2 + r with |r| <= ln 2 / 2; the series of exp(r) then ends after 14 terms. ldexp and floor are exact.
double portable_exp(double x) {
  if (x < -708) return 0;
  if (x > 709) return std::numeric_limits<double>::max();
  const double k = std::floor(x / ln2 + 0.5);
  const double r = x - k * ln2;
  double sum = 1;
  for (int n = 14; n >= 1; --n) sum = 1 + sum * r / n;
  return std::ldexp(sum, static_cast<int>(k));
}

// x = m 2^k with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh((m-1)/(m+1)), whose series converges with ratio < 0.03.
double portable_log(double x) {
  if (!(x > 0)) return -std::numeric_limits<double>::infinity();
  int k = 0;
  double m = std::frexp(x, &k);
  if (m < 0.70710678118654752440) {
    m *= 2;
    --k;
  }
  const double z = (m - 1) / (m + 1);
  const double z2 = z * z;
  double sum = 0;
  for (int n = 21; n >= 1; n -= 2) sum = sum * z2 + 1.0 / n;
  return 2 * z * sum + k * ln2;
}

}  // namespace dmprof::workload
