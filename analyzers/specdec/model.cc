#include "analyzers/specdec/model.h"

#include <algorithm>
#include <iterator>

namespace dmprof::specdec {

double expected_tokens(std::span<const double> conditional_acceptance) {
  double expected = 1, reached = 1;
  for (const double a : conditional_acceptance) expected += reached *= a;
  return expected;
}

double expected_tokens(double acceptance, std::uint32_t lookahead) {
  double expected = 1, reached = 1;
  for (std::uint32_t k = 0; k < lookahead; ++k) expected += reached *= acceptance;
  return expected;
}

double speedup(double tokens_per_step, double verify_cost, double lookahead, double draft_cost) {
  return tokens_per_step / (verify_cost + lookahead * draft_cost);
}

std::optional<double> breakeven_acceptance(std::uint32_t lookahead, double cost) {
  if (cost <= 1) return 0.0;
  if (cost > lookahead + 1.0) return std::nullopt;
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (expected_tokens(middle, lookahead) < cost ? low : high) = middle;
  }
  return high;
}

VerifyCurve::VerifyCurve(const std::map<std::uint32_t, double>& measured) : points_(measured) { points_[1] = 1; }

double VerifyCurve::at(std::uint32_t tokens) const {
  if (points_.size() == 1) return points_.begin()->second;
  auto right = points_.lower_bound(tokens);
  if (right != points_.end() && right->first == tokens) return right->second;
  if (right == points_.end()) right = std::prev(right);
  if (right == points_.begin()) right = std::next(right);
  const auto left = std::prev(right);
  const double slope = (right->second - left->second) / (right->first - left->first);
  const double value = left->second + slope * (static_cast<double>(tokens) - left->first);
  return std::max(value, 0.0);
}

Lookahead best_lookahead(std::span<const double> conditional_acceptance, const VerifyCurve& verify, double draft_cost) {
  Lookahead result;
  for (std::uint32_t n = 0; n <= conditional_acceptance.size(); ++n) {
    const double expected = expected_tokens(conditional_acceptance.first(n));
    result.speedup.push_back(n == 0 ? 1.0 : speedup(expected, verify.at(n + 1), n, draft_cost));
    if (result.speedup[n] > result.speedup[result.best]) result.best = n;
  }
  return result;
}

}  // namespace dmprof::specdec
