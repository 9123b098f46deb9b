// Whose prefill or preemption stands in the way of the slowest tokens.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analyzers/latency/latency.h"
#include "analyzers/latency/lives.h"
#include "analyzers/registry/statistics.h"
#include "dmprof/event/describe.h"

namespace dmprof {
namespace {

constexpr std::size_t fewest_gaps = 100;  // below it nothing lies beyond a P99
constexpr std::size_t most_culprits = 16;

MetricValue tail_culprit(const View& view, const Scope&) {
  const Recording& recording = view.recording();
  const latency::Lives& lives = view.shared<latency::Lives>([&] { return latency::lives_of(recording); });
  std::vector<latency::Gap> gaps = latency::token_gaps(lives);
  std::erase_if(gaps, [](const latency::Gap& gap) { return gap.end <= gap.begin; });
  if (gaps.size() < fewest_gaps)
    return unavailable(fmt::format("{} token gaps; outliers beyond the P99 need {}", gaps.size(), fewest_gaps));
  std::vector<double> lengths;
  for (const latency::Gap& gap : gaps) lengths.push_back(static_cast<double>(gap.end - gap.begin));
  const Spread spread = spread_of(lengths);
  // An outlier is beyond the P99 and far from the middle; a tight distribution has none.
  const double limit = std::max(spread.p99, 1.5 * spread.p50);
  std::erase_if(gaps, [limit](const latency::Gap& gap) { return static_cast<double>(gap.end - gap.begin) < limit; });
  if (gaps.empty())
    return unavailable(
        fmt::format("there are no outliers: no gap is longer than {:.1f} ms, 1.5 times the median", limit / 1e6));

  Intervals prefill;
  for (const Step& step : recording.steps) {
    if (step.phase == Phase::prefill) prefill.push_back({step.start, end_of(step)});
  }
  prefill = unite(std::move(prefill));
  std::map<std::string, std::uint64_t> culprits;
  std::uint64_t explained = 0;
  for (const latency::Gap& gap : gaps) {
    bool found = false;
    for (const auto& [request, life] : lives) {
      if (request == gap.request) continue;
      if (life.schedule && life.first_token) {
        const TimeRange common{std::max(gap.begin, *life.schedule), std::min(gap.end, *life.first_token)};
        if (common.begin < common.end && overlap(prefill, common) > 0)
          ++culprits[fmt::format("request {} (prefill)", request)], found = true;
      }
      if (std::any_of(life.preempted.begin(), life.preempted.end(),
                      [&](TimeNs time) { return time >= gap.begin && time <= gap.end; })) {
        ++culprits[fmt::format("request {} (preempted)", request)], found = true;
      }
    }
    if (found) ++explained;
  }
  MetricValue value;
  value.status = ValueStatus::ok;
  value.samples = gaps.size();
  value.window = "decode, whole run";
  for (const auto& [name, count] : culprits) value.parts.push_back({name, static_cast<double>(count), count, false});
  std::stable_sort(value.parts.begin(), value.parts.end(),
                   [](const Part& a, const Part& b) { return a.value > b.value; });
  if (value.parts.size() > most_culprits) value.parts.resize(most_culprits);
  value.reason =
      fmt::format("{} of {} outliers overlap another request's prefill or preemption", explained, gaps.size());
  return value;
}

}  // namespace

void register_tail(Catalogue& catalogue) {
  catalogue.add({.name = "tail_culprit",
                 .unit = "outliers",
                 .definition = "requests whose prefill or preemption overlaps token gaps beyond the P99 and 1.5 times "
                               "the median, with the number of "
                               "such gaps",
                 .needs = "request events, steps and 100 token gaps",
                 .events = Events::requests | Events::steps | Events::speculation,
                 .kind = MetricKind::array,
                 .direction = Direction::lower_is_better,
                 .compute = tail_culprit});
}

}  // namespace dmprof
