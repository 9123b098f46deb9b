#include "analyzers/plan/batch.h"

#include <algorithm>

#include "analyzers/specdec/model.h"

namespace dmprof::plan {

std::vector<BatchRow> over_batches(const Served& served, const Roofline& machine, std::span<const double> acceptance,
                                   std::span<const std::uint64_t> batches) {
  std::vector<BatchRow> rows;
  for (const std::uint64_t count : batches) {
    const auto batch = static_cast<double>(count);
    const double moved = served.parameters * served.weight_bytes + batch * served.kv_bytes_per_token * served.context;
    const auto arithmetic = [&](double tokens) { return 2 * served.parameters * batch * tokens / machine.peak_flops; };
    const auto pass = [&](double tokens) {
      return std::max(moved / machine.bandwidth, arithmetic(tokens)) + served.host;
    };
    const double plain = batch / pass(1);
    BatchRow best{count, 0, pass(1), plain, 1, arithmetic(1) > moved / machine.bandwidth};
    for (std::uint32_t n = 1; n <= acceptance.size(); ++n) {
      const double step = n * served.draft_cost * pass(1) + pass(n + 1);
      const double rate = batch * specdec::expected_tokens(acceptance.first(n)) / step;
      if (rate > best.tokens_per_s)
        best = {count, n, step, rate, rate / plain, arithmetic(n + 1) > moved / machine.bandwidth};
    }
    rows.push_back(best);
  }
  return rows;
}

}  // namespace dmprof::plan
