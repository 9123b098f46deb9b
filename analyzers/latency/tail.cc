// Whose prefill, preemption or transfer stands in the way of the slowest tokens.
#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "analyzers/latency/latency.h"
#include "analyzers/latency/lives.h"
#include "analyzers/registry/statistics.h"
#include "dmprof/event/describe.h"

namespace dmprof {
namespace {

constexpr std::size_t fewest_gaps = 100;  // below it nothing lies beyond a P99
constexpr std::size_t most_culprits = 16;

double length_of(const TimeRange& range) { return static_cast<double>(range.end - range.begin); }

// Of each unit when somebody stood still for a transfer there: where block accesses say how long they waited, then;
// otherwise whenever one ran.
std::vector<Intervals> waits_for_transfers(const View& view) {
  const Recording& recording = view.recording();
  std::vector<Intervals> waits(view.units());
  for (const BlockAccess& access : recording.accesses) {
    if (access.wait > 0)
      waits[view.unit_of(access.track)].push_back({access.time, add_duration(access.time, access.wait)});
  }
  if (recording.accesses.empty()) {
    for (const Transfer& transfer : recording.transfers)
      waits[view.unit_of(transfer.track)].push_back({transfer.start, end_of(transfer)});
  }
  for (Intervals& unit : waits) unit = unite(std::move(unit));
  return waits;
}

std::vector<Intervals> prefills(const View& view) {
  std::vector<Intervals> prefill(view.units());
  for (const Step& step : view.recording().steps) {
    if (step.phase == Phase::prefill) prefill[view.unit_of(step.track)].push_back({step.start, end_of(step)});
  }
  for (Intervals& unit : prefill) unit = unite(std::move(unit));
  return prefill;
}

// The unit that serves each request: where its tokens come from, and before there are any where its events do. What
// happens on another card holds it up by nothing.
std::unordered_map<std::uint64_t, std::size_t> units_of_requests(const View& view) {
  std::unordered_map<std::uint64_t, std::size_t> units;
  for (const SpeculationStep& row : view.recording().speculation)
    units.try_emplace(row.request, view.unit_of(row.track));
  for (const RequestEvent& event : view.recording().requests)
    units.try_emplace(event.request, view.unit_of(event.track));
  return units;
}

// What a request did at a time that may have held up others: a stretch of prefill, a moment of preemption.
struct Disturbance {
  TimeRange when;
  std::uint64_t request = 0;
  bool preempted = false;
};

std::vector<Disturbance> disturbances(const latency::Lives& lives) {
  std::vector<Disturbance> all;
  for (const auto& [request, life] : lives) {
    if (life.schedule && life.first_token && *life.schedule < *life.first_token)
      all.push_back({{*life.schedule, *life.first_token}, request, false});
    for (const TimeNs time : life.preempted) all.push_back({{time, time}, request, true});
  }
  return all;
}

// Outlying gaps and who stood in their way.
struct Outliers {
  std::string lacking;  // why there are none, "" when there are
  std::uint64_t gaps = 0, explained = 0, by_prefill = 0;
  std::map<std::string, std::uint64_t> culprits;
};

Outliers find_outliers(const View& view) {
  Outliers result;
  const Recording& recording = view.recording();
  const latency::Lives& lives = view.shared<latency::Lives>([&] { return latency::lives_of(recording); });
  std::vector<latency::Gap> gaps = latency::token_gaps(lives);
  std::erase_if(gaps, [](const latency::Gap& gap) { return gap.end <= gap.begin || gap.baseline; });
  if (gaps.size() < fewest_gaps) {
    result.lacking = fmt::format("{} token gaps; outliers beyond the P99 need {}", gaps.size(), fewest_gaps);
    return result;
  }
  const std::unordered_map<std::uint64_t, std::size_t> units = units_of_requests(view);
  const std::vector<Intervals> transfers = waits_for_transfers(view);
  const auto waited_in = [&](const latency::Gap& gap) {
    return static_cast<double>(overlap(transfers[units.at(gap.request)], {gap.begin, gap.end}));
  };
  std::vector<double> lengths, waits;
  for (const latency::Gap& gap : gaps) {
    lengths.push_back(length_of({gap.begin, gap.end}));
    waits.push_back(waited_in(gap));
  }
  const Spread spread = spread_of(lengths);
  const double usual_wait = spread_of(waits).p50;
  // An outlier is beyond the P99 and far from the middle; a tight distribution has none.
  const double limit = std::max(spread.p99, 1.5 * spread.p50);
  std::erase_if(gaps, [limit](const latency::Gap& gap) { return length_of({gap.begin, gap.end}) < limit; });
  if (gaps.empty()) {
    result.lacking =
        fmt::format("there are no outliers: no gap is longer than {:.1f} ms, 1.5 times the median", limit / 1e6);
    return result;
  }

  const std::vector<Intervals> prefill = prefills(view);
  const std::vector<Disturbance> others = disturbances(lives);
  result.gaps = gaps.size();
  for (const latency::Gap& gap : gaps) {
    const std::size_t unit = units.at(gap.request);
    bool found = false, behind_prefill = false;
    for (const Disturbance& other : others) {
      const TimeRange common{std::max(gap.begin, other.when.begin), std::min(gap.end, other.when.end)};
      if (other.request == gap.request || units.at(other.request) != unit || common.begin > common.end) continue;
      if (!other.preempted && overlap(prefill[unit], common) <= 0) continue;
      ++result.culprits[fmt::format("request {} ({})", other.request, other.preempted ? "preempted" : "prefill")];
      found = true;
      behind_prefill = behind_prefill || !other.preempted;
    }
    // A transfer is charged to the request that waited for it: events do not say for whom else it was.
    const double excess = length_of({gap.begin, gap.end}) - spread.p50;
    const double waited = waited_in(gap) - usual_wait;
    if (waited > excess / 2) ++result.culprits[fmt::format("request {} (transfer)", gap.request)], found = true;
    result.explained += found ? 1 : 0;
    result.by_prefill += behind_prefill ? 1 : 0;
  }
  return result;
}

const Outliers& outliers_of(const View& view) {
  return view.shared<Outliers>([&] { return find_outliers(view); });
}

std::string whole_run(const View& view) {
  return view.baseline_rows() == 0 ? "decode, whole run" : "decode, whole run, baseline steps left out";
}

MetricValue prefill_culprit_share(const View& view, const Scope&) {
  const Outliers& outliers = outliers_of(view);
  if (!outliers.lacking.empty()) return unavailable(outliers.lacking);
  MetricValue value =
      scalar(static_cast<double>(outliers.by_prefill) / static_cast<double>(outliers.gaps), outliers.gaps);
  value.window = whole_run(view);
  return value;
}

MetricValue tail_culprit(const View& view, const Scope&) {
  const Outliers& outliers = outliers_of(view);
  if (!outliers.lacking.empty()) return unavailable(outliers.lacking);
  MetricValue value;
  value.status = ValueStatus::ok;
  value.samples = outliers.gaps;
  value.window = whole_run(view);
  for (const auto& [name, count] : outliers.culprits)
    value.parts.push_back({name, static_cast<double>(count), count, false});
  std::stable_sort(value.parts.begin(), value.parts.end(),
                   [](const Part& a, const Part& b) { return a.value > b.value; });
  if (value.parts.size() > most_culprits) value.parts.resize(most_culprits);
  value.reason = fmt::format(
      "{} of {} outliers overlap another request's prefill or preemption, or are mostly waiting for a transfer",
      outliers.explained, outliers.gaps);
  return value;
}

}  // namespace

void register_tail(Catalogue& catalogue) {
  catalogue.add(
      {.name = "tail_culprit",
       .unit = "outliers",
       .definition = "requests whose prefill or preemption overlaps token gaps beyond the P99 and 1.5 times "
                     "the median, and those whose gap is longer mostly by waiting for a transfer, with the "
                     "number of such gaps",
       .needs = "100 token gaps; request events, block accesses or transfers name the culprits",
       .events = Events::requests | Events::steps | Events::speculation | Events::accesses | Events::transfers,
       .kind = MetricKind::array,
       .direction = Direction::lower_is_better,
       .compute = tail_culprit});
  catalogue.add(
      {.name = "prefill_culprit_share",
       .unit = "ratio",
       .definition = "token gaps beyond the P99 and 1.5 times the median that overlap another request's "
                     "prefill / all such gaps",
       .needs = "100 token gaps with outliers, request events",
       .events = Events::requests | Events::steps | Events::speculation | Events::accesses | Events::transfers,
       .direction = Direction::lower_is_better,
       .compute = prefill_culprit_share});
}

}  // namespace dmprof
