#include "analyzers/whatif/acceptance.h"

#include <algorithm>
#include <cmath>

namespace dmprof::whatif {
namespace {

constexpr double two_sided_95 = 1.96;
constexpr std::uint64_t fewest_reached = 5;  // below it a position says nothing and counts as not measured

double unit(double value) { return std::clamp(value, 0.0, 1.0); }

// Half width of Wilson's interval.
double spread(double share, double trials) {
  const double z2 = two_sided_95 * two_sided_95;
  return two_sided_95 * std::sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials)) / (1 + z2 / trials);
}

struct Line {
  double at_mean = 0, mean = 0, slope = 0, error_at_mean = 0, error_of_slope = 0;
};

Line fit(const std::vector<double>& a, const std::vector<double>& weight) {
  Line line;
  double w = 0, wx = 0, wy = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double x = static_cast<double>(k + 1);
    w += weight[k], wx += weight[k] * x, wy += weight[k] * a[k];
  }
  line.mean = wx / w, line.at_mean = wy / w;
  double wxx = 0, wxy = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double x = static_cast<double>(k + 1) - line.mean;
    wxx += weight[k] * x * x, wxy += weight[k] * x * a[k];
  }
  line.error_at_mean = std::sqrt(1 / w);
  if (wxx > 0) line.slope = std::min(0.0, wxy / wxx), line.error_of_slope = std::sqrt(1 / wxx);
  return line;
}

}  // namespace

Chances chances(const specdec::Acceptance& acceptance, std::uint32_t positions) {
  Chances result;
  std::vector<double> a, weight;
  double half = 0;
  for (const specdec::Acceptance::Position& position : acceptance.positions) {
    if (position.reached < fewest_reached) break;
    const auto trials = static_cast<double>(position.reached);
    const double share = static_cast<double>(position.accepted) / trials;
    a.push_back(share);
    // Of the binomial variance at a share pulled off 0 and 1, where it would vanish.
    const double safe = (static_cast<double>(position.accepted) + 1) / (trials + 2);
    weight.push_back(trials / (safe * (1 - safe)));
    half = spread(share, trials);
    if (a.size() <= positions) {
      result.mid.push_back(share);
      result.low.push_back(unit(share - half));
      result.high.push_back(unit(share + half));
    }
  }
  result.measured = static_cast<std::uint32_t>(result.mid.size());
  if (a.empty()) return result;
  const Line line = fit(a, weight);
  const double worst = result.low.empty() ? 0 : *std::min_element(result.low.begin(), result.low.end());
  for (std::uint32_t k = result.measured + 1; k <= positions; ++k) {
    const double ahead = k - line.mean;
    const double value = line.at_mean + line.slope * ahead;
    const double error = std::max(half, two_sided_95 * std::hypot(line.error_at_mean, line.error_of_slope * ahead));
    result.mid.push_back(unit(value));
    result.low.push_back(unit(std::min(value - error, worst)));
    result.high.push_back(unit(value + error));
  }
  return result;
}

}  // namespace dmprof::whatif
