// Percentiles and bootstrap intervals. Deterministic: the same samples give the same interval on every machine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzers/registry/metric.h"

namespace dmprof {

// Linear between closest ranks (Hyndman and Fan's type 7). `sorted` must be ascending and not empty; p in [0, 1].
double percentile(std::span<const double> sorted, double p);

// Percentiles of samples in any order; samples is sorted in place. Not for an empty vector.
Spread spread_of(std::vector<double>& samples);

// A quotient of two sums, with a 95 % percentile-bootstrap interval. Consecutive samples are merged into at most 1024
// groups before resampling: bounded memory, and neighbours that resemble each other do not make the interval too
// narrow.
class RatioEstimate {
 public:
  void add(double numerator, double denominator, std::uint64_t samples = 1);

  double numerator() const { return numerator_; }
  double denominator() const { return denominator_; }
  std::uint64_t samples() const { return samples_; }
  double ratio() const { return numerator_ / denominator_; }  // caller checks denominator() > 0
  // Nothing with fewer than 5 groups.
  std::optional<ConfidenceInterval> interval() const;

 private:
  struct Group {
    double numerator = 0, denominator = 0;
  };
  std::vector<Group> groups_;
  std::uint64_t per_group_ = 1, in_last_ = 0;
  double numerator_ = 0, denominator_ = 0;
  std::uint64_t samples_ = 0;
};

// 95 % bootstrap interval of a statistic of rows drawn with replacement; `statistic` gets the drawn indices and may
// return nothing for a degenerate draw. Nothing with fewer than 5 rows.
template <class Statistic>
std::optional<ConfidenceInterval> bootstrap(std::size_t rows, Statistic&& statistic);

// Distribution value: mean, spread and interval of the mean.
MetricValue distribution(std::vector<double> samples);
MetricValue ratio_value(const RatioEstimate& estimate);

namespace detail {
inline constexpr int bootstrap_draws = 400;
class Random {  // splitmix64: small, portable, good enough to draw indices
 public:
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

 private:
  std::uint64_t state_ = 20240607;
};
std::optional<ConfidenceInterval> middle_95(std::vector<double> draws);
}  // namespace detail

template <class Statistic>
std::optional<ConfidenceInterval> bootstrap(std::size_t rows, Statistic&& statistic) {
  if (rows < 5) return std::nullopt;
  detail::Random random;
  std::vector<std::size_t> drawn(rows);
  std::vector<double> results;
  results.reserve(detail::bootstrap_draws);
  for (int i = 0; i < detail::bootstrap_draws; ++i) {
    for (std::size_t& index : drawn) index = random.below(rows);
    if (const std::optional<double> result = statistic(std::span<const std::size_t>(drawn))) results.push_back(*result);
  }
  return detail::middle_95(std::move(results));
}

}  // namespace dmprof
