#include "samples/models/train/acceptance.h"

#include <algorithm>
#include <numeric>

namespace dmprof::train {

double AcceptanceTotals::mean() const {
  const double all = std::accumulate(reached.begin(), reached.end(), 0.0);
  return all > 0 ? std::accumulate(accepted.begin(), accepted.end(), 0.0) / all : 0;
}

AcceptanceTotals speculate(const std::vector<AcceptanceTrace>& traces, int lookahead, std::size_t length) {
  const auto n = static_cast<std::size_t>(lookahead);
  AcceptanceTotals totals;
  totals.reached.resize(n);
  totals.accepted.resize(n);
  for (const AcceptanceTrace& trace : traces) {
    const std::size_t end = std::min(length, trace.size());
    totals.tokens += static_cast<double>(end);
    // The probability that a step begins at each position.
    std::vector<double> begins(end + n + 2);
    if (end > 0) begins[0] = 1;
    for (std::size_t at = 0; at < end; ++at) {
      totals.steps += begins[at];
      double alive = begins[at];
      for (std::size_t i = 0; i < n && at + i < end; ++i) {
        totals.reached[i] += alive;
        const double accepted = alive * trace[at + i];
        totals.accepted[i] += accepted;
        begins[at + i + 1] += alive - accepted;  // a rejection: the target's token takes the place
        alive = accepted;
      }
      begins[at + n + 1] += alive;  // all accepted: the target adds one more
    }
  }
  return totals;
}

bool ends_in_loop(const std::vector<unsigned short>& tokens, std::size_t length) {
  const std::size_t end = std::min(length, tokens.size());
  for (std::size_t period = 1; 3 * period <= end; ++period) {
    const std::size_t span = std::max<std::size_t>(3 * period, 24);
    if (span > end) continue;
    bool cycles = true;
    for (std::size_t i = end - span + period; i < end && cycles; ++i) cycles = tokens[i] == tokens[i - period];
    if (cycles) return true;
  }
  return false;
}

}  // namespace dmprof::train
