#include "analyzers/registry/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dmprof {
namespace {
constexpr std::size_t max_groups = 1024;
}

double percentile(std::span<const double> sorted, double p) {
  const double rank = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(rank));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (rank - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Spread spread_of(std::vector<double>& samples) {
  std::sort(samples.begin(), samples.end());
  return {percentile(samples, .50), percentile(samples, .90), percentile(samples, .95), percentile(samples, .99),
          samples.back()};
}

void RatioEstimate::add(double numerator, double denominator, std::uint64_t samples) {
  numerator_ += numerator;
  denominator_ += denominator;
  samples_ += samples;
  if (groups_.empty() || in_last_ == per_group_) {
    if (groups_.size() == max_groups) {  // full: halve, each group now stands for twice as many samples
      for (std::size_t i = 0; i < max_groups / 2; ++i) {
        groups_[i] = {groups_[2 * i].numerator + groups_[2 * i + 1].numerator,
                      groups_[2 * i].denominator + groups_[2 * i + 1].denominator};
      }
      groups_.resize(max_groups / 2);
      per_group_ *= 2;
    }
    groups_.push_back({});
    in_last_ = 0;
  }
  groups_.back().numerator += numerator;
  groups_.back().denominator += denominator;
  ++in_last_;
}

std::optional<ConfidenceInterval> RatioEstimate::interval() const {
  return bootstrap(groups_.size(), [this](std::span<const std::size_t> drawn) -> std::optional<double> {
    double numerator = 0, denominator = 0;
    for (const std::size_t index : drawn) {
      numerator += groups_[index].numerator;
      denominator += groups_[index].denominator;
    }
    if (denominator <= 0) return std::nullopt;
    return numerator / denominator;
  });
}

MetricValue distribution(std::vector<double> samples) {
  if (samples.empty()) return unavailable("no samples");
  RatioEstimate mean;
  for (const double sample : samples) mean.add(sample, 1);
  MetricValue value = scalar(mean.ratio(), samples.size());
  value.interval = mean.interval();
  value.spread = spread_of(samples);
  return value;
}

MetricValue ratio_value(const RatioEstimate& estimate) {
  MetricValue value = scalar(estimate.ratio(), estimate.samples());
  value.interval = estimate.interval();
  return value;
}

namespace detail {
std::optional<ConfidenceInterval> middle_95(std::vector<double> draws) {
  if (draws.size() < bootstrap_draws / 2) return std::nullopt;
  std::sort(draws.begin(), draws.end());
  return ConfidenceInterval{percentile(draws, .025), percentile(draws, .975)};
}
}  // namespace detail

}  // namespace dmprof
