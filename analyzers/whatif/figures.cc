#include "analyzers/whatif/figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "analyzers/registry/statistics.h"

namespace dmprof::whatif {
namespace {

constexpr double two_sided_95 = 1.96;

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Change from `before` to `after`. Gaps of 0 (a step that emits several tokens) are no base for a ratio: where both are
// 0 nothing changed.
std::optional<double> ratio(double before, double after) {
  if (before > 0) return after / before;
  return after > 0 ? std::nullopt : std::optional(1.0);
}

}  // namespace

std::span<const QuantityInfo> quantities() {
  static constexpr std::array<QuantityInfo, 8> all = {{
      {Quantity::throughput, "throughput", "throughput", "", true},
      {Quantity::decode_throughput, "decode_throughput", "decode_throughput", "", true},
      {Quantity::step_time, "step_time", "step_time", "", false},
      {Quantity::acceptance_length, "acceptance_length", "acceptance_length", "", true},
      {Quantity::itl_p50, "itl_p50", "itl", "p50", false},
      {Quantity::itl_p99, "itl_p99", "itl", "p99", false},
      {Quantity::e2e_latency, "e2e_latency", "e2e_latency", "", false},
      {Quantity::e2e_latency_p99, "e2e_latency_p99", "e2e_latency", "p99", false},
  }};
  return all;
}

Outcome::Outcome(const Load& load, const StepCosts& costs, const Serving& serving, std::uint32_t seeds) {
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    Served served = serve(load, costs, serving, seed);
    if (served.steps.empty()) continue;
    values_[Quantity::throughput].push_back(served.throughput());
    values_[Quantity::decode_throughput].push_back(served.decode_throughput());
    values_[Quantity::step_time].push_back(mean(served.steps));
    values_[Quantity::acceptance_length].push_back(served.drafting_rows > 0 ? 1 + served.accepted / served.drafting_rows
                                                                            : 1);
    std::sort(served.gaps.begin(), served.gaps.end());
    values_[Quantity::itl_p50].push_back(percentile(served.gaps, 0.5));
    values_[Quantity::itl_p99].push_back(percentile(served.gaps, 0.99));
    std::sort(served.latencies.begin(), served.latencies.end());
    values_[Quantity::e2e_latency].push_back(mean(served.latencies));
    values_[Quantity::e2e_latency_p99].push_back(percentile(served.latencies, 0.99));
  }
}

const std::vector<double>& Outcome::of(Quantity quantity) const {
  static const std::vector<double> none;
  const auto found = values_.find(quantity);
  return found == values_.end() ? none : found->second;
}

std::optional<Range> scaled(Quantity quantity, double recorded, const Outcome& before, const Outcome& mid,
                            std::span<const Outcome> variants, double error) {
  const std::vector<double>&from = before.of(quantity), &to = mid.of(quantity);
  if (from.empty() || from.size() != to.size()) return std::nullopt;
  const auto factor = ratio(mean(from), mean(to));
  if (!factor || *factor <= 0) return std::nullopt;
  double spread = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const double one = ratio(from[i], to[i]).value_or(*factor) / *factor - 1;
    spread += one * one;
  }
  spread = from.size() < 2 ? 0 : two_sided_95 * std::sqrt(spread / static_cast<double>(from.size() - 1));
  double below = error * error + spread * spread, above = below;
  for (std::size_t i = 0; i + 1 < variants.size(); i += 2) {
    double down = 0, up = 0;
    for (const std::size_t each : {i, i + 1}) {
      const std::vector<double>& varied = variants[each].of(quantity);
      if (varied.empty() || mean(to) <= 0) continue;
      const double moved = mean(varied) / mean(to) - 1;
      down = std::min(down, moved), up = std::max(up, moved);
    }
    below += down * down, above += up * up;
  }
  const double value = recorded * *factor;
  return Range{value * std::max(0.0, 1 - std::sqrt(below)), value, value * (1 + std::sqrt(above))};
}

}  // namespace dmprof::whatif
