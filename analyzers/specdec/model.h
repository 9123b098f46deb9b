// The arithmetic of speculation (FORMULAS.md), apart from any recording. N = draft tokens per step, a_k = conditional
// acceptance at position k, c = cost of one draft token and v(n) = cost of verifying n tokens, both in units of a
// one-token target step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace dmprof::specdec {

// Tokens per step, bonus token included: 1 + sum over k of the product of a_1..a_k.
double expected_tokens(std::span<const double> conditional_acceptance);

// The same with one acceptance for all positions: (1 - a^(N+1)) / (1 - a). Leviathan et al., arXiv 2211.17192.
double expected_tokens(double acceptance, std::uint32_t lookahead);

// Tokens/s over tokens/s without speculation: E / (v(N+1) + N c). N may be a mean over steps.
double speedup(double tokens_per_step, double verify_cost, double lookahead, double draft_cost);

// The acceptance (one for all positions) at which a step that costs `cost` one-token steps breaks even: E(a, N) = cost.
// 0 when it pays at any acceptance (cost <= 1); nothing when not even full acceptance reaches it (cost > N + 1).
std::optional<double> breakeven_acceptance(std::uint32_t lookahead, double cost);

// v(n) from measured points; linear between them and beyond the last with the last slope. Needs v(1) = 1 among them,
// which the constructor adds.
class VerifyCurve {
 public:
  explicit VerifyCurve(const std::map<std::uint32_t, double>& measured);
  double at(std::uint32_t tokens) const;
  std::uint32_t widest() const { return points_.rbegin()->first; }

 private:
  std::map<std::uint32_t, double> points_;
};

struct Lookahead {
  std::uint32_t best = 0;       // 0: speculation does not pay
  std::vector<double> speedup;  // by N, from 0
};
// Best N between 0 and the number of positions.
Lookahead best_lookahead(std::span<const double> conditional_acceptance, const VerifyCurve& verify, double draft_cost);

}  // namespace dmprof::specdec
