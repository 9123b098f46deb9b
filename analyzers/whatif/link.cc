#include "analyzers/whatif/link.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <vector>

#include "analyzers/registry/statistics.h"
#include "dmprof/event/describe.h"

namespace dmprof::whatif {
namespace {

struct Flight {
  TimeNs start, end;
};

std::uint32_t most_at_once(std::vector<Flight> flights) {
  std::sort(flights.begin(), flights.end(), [](const Flight& a, const Flight& b) { return a.start < b.start; });
  std::multiset<TimeNs> ends;
  std::size_t most = 1;
  for (const Flight& flight : flights) {
    while (!ends.empty() && *ends.begin() <= flight.start) ends.erase(ends.begin());
    ends.insert(flight.end);
    most = std::max(most, ends.size());
  }
  return static_cast<std::uint32_t>(most);
}

std::vector<double> sampled_times(const std::vector<Flight>& flights) {
  constexpr std::size_t most = 8192;
  std::vector<double> times;
  const std::size_t stride = flights.size() / most + 1;
  for (std::size_t i = 0; i < flights.size(); i += stride)
    times.push_back(static_cast<double>(flights[i].end - flights[i].start));
  return times;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : percentile(values, 0.5);
}

std::uint32_t most_outstanding(const Recording& recording, TierId tier) {
  std::int64_t now = 0, most = 0;
  for (const Prefetch& prefetch : recording.prefetches) {
    if (prefetch.tier != tier) continue;
    if (prefetch.point == PrefetchPoint::issued) most = std::max(most, ++now);
    if (prefetch.point == PrefetchPoint::completed || prefetch.point == PrefetchPoint::cancelled) --now;
    now = std::max<std::int64_t>(now, 0);
  }
  return static_cast<std::uint32_t>(most);
}

// The transfers into the tier that consumers waited for, each with the access that did.
struct Served {
  const BlockAccess* access;
  Flight flight;
};

std::vector<Served> served_waits(const Recording& recording, TierId tier) {
  std::unordered_map<std::uint64_t, std::vector<Flight>> by_block;
  for (const Transfer& transfer : recording.transfers) {
    if (transfer.to == tier) by_block[transfer.block].push_back({transfer.start, end_of(transfer)});
  }
  std::vector<Served> served;
  for (const BlockAccess& access : recording.accesses) {
    if (access.tier != tier || access.outcome == AccessOutcome::hit || access.wait <= 0) continue;
    const auto found = by_block.find(access.block);
    if (found == by_block.end()) continue;
    // In time order, so the first that ends after the question is the one.
    const auto flight = std::partition_point(found->second.begin(), found->second.end(),
                                             [&](const Flight& each) { return each.end <= access.time; });
    if (flight != found->second.end()) served.push_back({&access, *flight});
  }
  return served;
}

// How long after a miss its transfer starts when nothing else is under way.
double serial_latency(const std::vector<Served>& served, std::vector<TimeNs> ends) {
  std::sort(ends.begin(), ends.end());
  std::vector<double> waits;
  for (const Served& each : served) {
    if (each.access->outcome != AccessOutcome::miss || each.flight.start < each.access->time) continue;
    const auto before = std::lower_bound(ends.begin(), ends.end(), each.flight.start + 1);
    if (before != ends.begin() && *std::prev(before) > each.access->time) continue;  // the link had work
    waits.push_back(static_cast<double>(each.flight.start - each.access->time));
  }
  return median(std::move(waits));
}

double mean_wake_up(const std::vector<Served>& served) {
  double sum = 0;
  for (const Served& each : served)
    sum +=
        static_cast<double>(std::max<TimeNs>(0, add_duration(each.access->time, each.access->wait) - each.flight.end));
  return served.empty() ? 0 : sum / static_cast<double>(served.size());
}

}  // namespace

std::optional<Link> measure_link(const View& view, TierId tier) {
  const Recording& recording = view.recording();
  std::set<std::pair<TimeNs, std::uint64_t>> completed;
  for (const Prefetch& prefetch : recording.prefetches) {
    if (prefetch.tier == tier && prefetch.point == PrefetchPoint::completed)
      completed.insert({prefetch.time, prefetch.block});
  }
  std::vector<Flight> demand, prefetched, all;
  std::vector<double> per_byte;
  double busy = 0;
  for (const Transfer& transfer : recording.transfers) {
    if (transfer.to != tier || transfer.bytes == 0) continue;
    const Flight flight{transfer.start, end_of(transfer)};
    all.push_back(flight);
    (completed.contains({flight.end, transfer.block}) ? prefetched : demand).push_back(flight);
    busy += static_cast<double>(transfer.duration);
    per_byte.push_back(static_cast<double>(transfer.duration) / static_cast<double>(transfer.bytes));
  }
  if (all.empty()) return std::nullopt;
  Intervals ranges;
  for (const Flight& flight : all) ranges.push_back({flight.start, flight.end});
  Link link;
  link.transfers = all.size();
  const double covered = static_cast<double>(total(unite(std::move(ranges))));
  link.serial = busy <= 1.05 * covered;  // clocks are rounded
  link.ns_per_byte = median(std::move(per_byte));
  const std::vector<Served> served = served_waits(recording, tier);
  std::vector<TimeNs> ends;
  for (const Flight& flight : all) ends.push_back(flight.end);
  link.latency = link.serial ? serial_latency(served, std::move(ends)) : 0;
  link.wake_up = mean_wake_up(served);
  link.demand_times = sampled_times(demand.empty() ? all : demand);
  link.prefetch_times = prefetched.empty() ? link.demand_times : sampled_times(prefetched);
  link.demand_slots = most_at_once(demand);
  link.prefetch_slots = most_at_once(prefetched);
  link.outstanding = most_outstanding(recording, tier);
  return link;
}

}  // namespace dmprof::whatif
