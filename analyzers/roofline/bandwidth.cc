// How much of each tier's measured bandwidth is used, and for what.
#include <fmt/format.h>

#include "analyzers/registry/reasons.h"
#include "analyzers/registry/statistics.h"
#include "analyzers/roofline/peaks.h"
#include "analyzers/roofline/roofline.h"
#include "analyzers/roofline/unused.h"
#include "dmprof/event/describe.h"

namespace dmprof {
namespace {

double seconds(TimeNs ns) { return static_cast<double>(ns) / 1e9; }

// Main memory sees no transfers of its own: what it serves are the bytes that steps read.
MetricValue dram_utilization(const View& view, const Scope& scope) {
  const roofline::Dram dram = roofline::dram(view, scope);
  if (!dram.lacking.empty()) return unavailable(dram.lacking);
  const roofline::Work work = roofline::work(view, scope);
  const TimeNs wall = view.wall(scope);
  if (wall <= 0) return unavailable(reasons::no_steps(view, scope));
  MetricValue value = scalar(work.bytes / (seconds(wall) * dram.bandwidth), work.steps);
  value.beside = {{dram.source, "B/s", dram.bandwidth}};
  return value;
}

MetricValue utilization(const View& view, const Scope& scope) {
  const Recording& recording = view.recording();
  const std::map<TierId, roofline::Traffic> traffic = roofline::traffic(view, scope);
  const std::optional<TierId> tier = scope.tier ? scope.tier : roofline::slowest(recording, traffic);
  if (!tier) {
    if (!recording.transfers.empty()) return unavailable("no transfer from a registered tier lies in this window");
    // Nothing moves between tiers: the slowest that serves is main memory.
    MetricValue value = dram_utilization(view, scope);
    if (value.ok()) {
      value.subject = "dram";
    } else {
      value.reason = "no transfers, so the slowest tier is main memory: " + value.reason;
    }
    return value;
  }
  const auto found = traffic.find(*tier);
  const auto capacity = recording.capacities.find(*tier);
  const std::string name = recording.tier_name(*tier);
  MetricValue value;
  if (capacity != recording.capacities.end() && roofline::is_dram(capacity->second)) {
    if (found == traffic.end()) {
      value = dram_utilization(view, scope);
      value.subject = name;
      return value;
    }
    // What was copied out of main memory may have come out of the caches as well as what was read in place.
    const auto steps = static_cast<double>(roofline::work(view, scope).steps);
    const roofline::Dram dram = roofline::dram(view, scope, steps > 0 ? found->second.bytes / steps : 0);
    if (!dram.lacking.empty()) {
      value = unavailable(dram.lacking);
      value.subject = name;
      return value;
    }
  }
  const std::optional<double> peak = roofline::bandwidth(recording, *tier);
  if (!peak || *peak <= 0)
    return unavailable(fmt::format("the bandwidth of {} was neither measured nor registered", name));
  if (found == traffic.end())
    return unavailable(
        fmt::format("no transfer from {} is in the recording: what it serves is not counted as moved bytes", name));
  const TimeNs wall = view.wall(scope);
  if (wall <= 0) return unavailable(reasons::no_steps(view, scope));
  value = scalar(found->second.bytes / (seconds(wall) * *peak), found->second.transfers);
  value.subject = name;
  value.reason = roofline::configured(recording, *tier);
  value.beside = {{"bytes moved", "B", found->second.bytes},
                  {roofline::bandwidth_source(recording, *tier), "B/s", *peak}};
  if (found->second.busy > 0)
    value.beside.push_back({"while a transfer ran", "B/s", found->second.bytes / (found->second.busy / 1e9)});
  if (value.reason.empty() && capacity->second.datasheet_bandwidth > 0)
    value.beside.push_back({"datasheet bandwidth", "B/s", capacity->second.datasheet_bandwidth});
  return value;
}

MetricValue useful_share(const View& view, const Scope& scope) {
  RatioEstimate estimate;
  double unused = 0;
  for (const auto& [tier, sum] : roofline::traffic(view, scope, roofline::unused_transfers(view.recording()))) {
    if (scope.tier && tier != *scope.tier) continue;
    estimate.add(sum.useful, sum.bytes, sum.transfers);
    unused += sum.unused;
  }
  if (estimate.denominator() <= 0) return unavailable(reasons::no_transfers());
  MetricValue value = scalar(estimate.ratio(), estimate.samples());
  value.beside = {{"moved by prefetches nobody used", "B", unused}};
  return value;
}

MetricValue model_bandwidth(const View& view, const Scope& scope) {
  const roofline::Work work = roofline::work(view, scope);
  if (work.steps == 0 || work.time <= 0) return unavailable(reasons::no_steps(view, scope));
  const roofline::Dram dram = roofline::dram(view, scope);
  if (!dram.lacking.empty()) return unavailable(dram.lacking);
  MetricValue value =
      scalar(work.bytes / (work.time / static_cast<double>(work.tracks) / 1e9) / dram.bandwidth, work.steps);
  value.subject = "dram";
  value.beside = {{"bytes per step", "B", work.bytes_per_step}, {dram.source, "B/s", dram.bandwidth}};
  return value;
}

MetricValue link_utilization(const View& view, const Scope& scope) {
  // Busy share of each pair of tiers; the busiest is the value.
  std::map<std::pair<TierId, TierId>, std::map<std::size_t, Intervals>> links;  // by unit
  std::map<std::size_t, TrackId> track_of;
  double bytes = 0, useful = 0, depth = 0, count = 0;
  for (const Transfer& transfer : view.recording().transfers) {
    if (!view.in_scope(transfer.track, transfer.start, scope)) continue;
    const std::size_t unit = view.unit_of(transfer.track);
    track_of.emplace(unit, transfer.track);
    links[{transfer.from, transfer.to}][unit].push_back({transfer.start, end_of(transfer)});
    bytes += static_cast<double>(transfer.bytes), useful += static_cast<double>(transfer.useful_bytes),
        depth += transfer.queue_depth, ++count;
  }
  const double wall = static_cast<double>(view.wall(scope)) * static_cast<double>(view.units());
  if (links.empty() || wall <= 0) return unavailable(reasons::no_transfers());
  MetricValue value = scalar(0, static_cast<std::uint64_t>(count));
  for (auto& [link, by_unit] : links) {
    double busy = 0;
    for (auto& [unit, ranges] : by_unit)
      busy += static_cast<double>(total(intersect(unite(std::move(ranges)), view.time(scope, track_of[unit])))) / wall;
    const std::string name =
        fmt::format("{} to {}", view.recording().tier_name(link.first), view.recording().tier_name(link.second));
    value.parts.push_back({name, busy, 0, false});
    if (busy >= *value.value) value.value = busy, value.subject = name;
  }
  value.beside = {{"bytes per transfer", "B", bytes / count}, {"queue_depth", "requests", depth / count}};
  if (useful > 0) value.beside.push_back({"read_amplification", "x", bytes / useful});
  return value;
}

}  // namespace

void register_bandwidth(Catalogue& catalogue) {
  const Events events = Events::transfers | Events::steps | Events::speculation;
  catalogue.add({.name = "bandwidth_utilization",
                 .unit = "ratio",
                 .definition =
                     "bytes moved out of a tier during decoding / (wall time x bandwidth of that tier: as the engine "
                     "measured it, for "
                     "main memory else as `dmprof calibrate` did, or as it was configured; the figure beside says "
                     "which); of the slowest tier that served, which is named, unless broken down by tier; "
                     "main memory only where a step reads at least twice the "
                     "last-level cache",
                 .needs = "transfers and the tier's measured bandwidth",
                 .events = events,
                 .by = {By::tier, By::window, By::phase},
                 .compute = utilization});
  catalogue.add({.name = "useful_byte_share",
                 .unit = "ratio",
                 .definition = "bytes somebody asked for, less those of prefetches thrown out unused or cancelled / "
                               "bytes moved between tiers during decoding",
                 .needs = "transfers; prefetches tell which were for nothing",
                 .events = events | Events::prefetches,
                 .direction = Direction::higher_is_better,
                 .by = {By::tier, By::window},
                 .compute = useful_share});
  catalogue.add({.name = "model_bandwidth_utilization",
                 .unit = "ratio",
                 .definition = "(parameter bytes + KV bytes that the target's pass reads) per step / step time / "
                               "measured bandwidth of main memory",
                 .needs = "steps with byte counts, a calibration, a step that reads twice the last-level cache",
                 .events = events,
                 .direction = Direction::higher_is_better,
                 .by = {By::window, By::phase},
                 .compute = model_bandwidth});
  catalogue.add({.name = "link_utilization",
                 .unit = "ratio",
                 .definition = "share of decode wall time during which at least one transfer runs between two tiers, "
                               "averaged over cards; the busiest pair, others beside it",
                 .needs = "transfers",
                 .events = events,
                 .by = {By::window},
                 .compute = link_utilization});
}

void register_roofline(Catalogue& catalogue) {
  register_bandwidth(catalogue);
  register_compute(catalogue);
  register_intensity(catalogue);
  register_links(catalogue);
  register_parts(catalogue);
}

}  // namespace dmprof
