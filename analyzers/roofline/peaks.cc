#include "analyzers/roofline/peaks.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "dmprof/event/describe.h"

namespace dmprof::roofline {
namespace {

constexpr double least_working_set = 2;  // times the last-level cache

// Share of the event that lies in the intervals; an event without length counts where it stands.
double share_inside(const Intervals& time, TimeNs start, TimeNs end) {
  if (end <= start) return contains(time, start) ? 1 : 0;
  return static_cast<double>(overlap(time, {start, end})) / static_cast<double>(end - start);
}

}  // namespace

bool is_dram(const Capacity& capacity) {
  return capacity.kind == "tier" && (capacity.name == "dram" || capacity.name == "memory");
}

std::optional<double> bandwidth(const Recording& recording, TierId tier) {
  const auto found = recording.capacities.find(tier);
  if (found == recording.capacities.end()) return std::nullopt;
  if (found->second.measured_bandwidth > 0) return found->second.measured_bandwidth;
  if (is_dram(found->second)) return recording.environment_number("calibration.read_bandwidth");
  return std::nullopt;
}

std::string configured(const Recording& recording, TierId tier) {
  const auto found = recording.capacities.find(tier);
  if (found == recording.capacities.end()) return "";
  const Capacity& capacity = found->second;
  if (capacity.measured_bandwidth <= 0 || capacity.measured_bandwidth != capacity.datasheet_bandwidth) return "";
  return fmt::format("the bandwidth of {} is what it was configured to ({:.3g} GB/s), not a measurement",
                     recording.tier_name(tier), capacity.measured_bandwidth / 1e9);
}

std::string bandwidth_source(const Recording& recording, TierId tier) {
  const auto found = recording.capacities.find(tier);
  if (found == recording.capacities.end() || found->second.measured_bandwidth <= 0) return "calibrated bandwidth";
  return configured(recording, tier).empty() ? "measured bandwidth" : "configured bandwidth";
}

Dram dram(const View& view, const Scope& scope, double moved) {
  const Recording& recording = view.recording();
  Dram result;
  std::optional<double> measured = recording.environment_number("calibration.read_bandwidth");
  result.source = "calibrated bandwidth";
  for (const auto& [id, capacity] : recording.capacities) {
    if (is_dram(capacity) && capacity.measured_bandwidth > 0)
      measured = capacity.measured_bandwidth, result.source = bandwidth_source(recording, id);
  }
  const std::optional<double> cache = recording.environment_number("cpu.llc_bytes");
  const double caches =
      cache.value_or(0) * std::max(1.0, recording.environment_number("cpu.llc_instances").value_or(1));
  const double read = work(view, scope).bytes_per_step, set = read > 0 ? read : moved;
  if (!measured || *measured <= 0) {
    result.lacking = "the bandwidth of main memory was not measured; run `dmprof calibrate` before recording";
  } else if (caches <= 0) {
    result.lacking = "the size of the last-level cache is not in the recording's environment";
  } else if (set <= 0) {
    result.lacking = "steps carry no parameter or KV bytes";
  } else if (set < least_working_set * caches) {
    result.lacking = fmt::format(
        "a step reads {:.1f} MiB, less than twice the last-level cache of {:.1f} MiB: main memory is not what it waits "
        "for",
        set / (1 << 20), caches / (1 << 20));
  } else {
    result.bandwidth = *measured;
  }
  return result;
}

std::optional<double> peak_flops(const Recording& recording) {
  double peak = 0;
  for (const auto& [id, capacity] : recording.capacities) {
    if (capacity.kind == "compute") peak += capacity.peak_flops;
  }
  if (peak > 0) return peak;
  const std::optional<double> calibrated = recording.environment_number("calibration.flops");
  return calibrated && *calibrated > 0 ? calibrated : std::nullopt;
}

std::map<TierId, Traffic> traffic(const View& view, const Scope& scope, const std::unordered_set<std::size_t>& unused) {
  std::map<TierId, Traffic> result;
  std::vector<Intervals> times(view.units());
  std::vector<bool> known(view.units());
  std::map<TierId, std::map<std::size_t, Intervals>> busy;  // by unit
  const std::vector<Transfer>& transfers = view.recording().transfers;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const Transfer& transfer = transfers[i];
    const std::size_t unit = view.unit_of(transfer.track);
    if (!known[unit]) times[unit] = view.time(scope, transfer.track), known[unit] = true;
    const double share = share_inside(times[unit], transfer.start, end_of(transfer));
    if (share <= 0) continue;
    Traffic& tier = result[transfer.from];
    tier.bytes += share * static_cast<double>(transfer.bytes);
    (unused.contains(i) ? tier.unused : tier.useful) += share * static_cast<double>(transfer.useful_bytes);
    ++tier.transfers;
    busy[transfer.from][unit].push_back({transfer.start, end_of(transfer)});
  }
  for (auto& [tier, by_unit] : busy) {
    double sum = 0;
    for (auto& [unit, ranges] : by_unit)
      sum += static_cast<double>(total(intersect(unite(std::move(ranges)), times[unit])));
    result[tier].busy = sum / static_cast<double>(view.units());
  }
  return result;
}

std::optional<TierId> slowest(const Recording& recording, const std::map<TierId, Traffic>& by_tier) {
  std::optional<TierId> result;
  std::uint32_t rank = 0;
  for (const auto& [tier, sum] : by_tier) {
    const auto found = recording.capacities.find(tier);
    if (found == recording.capacities.end() || sum.bytes <= 0) continue;
    if (!result || found->second.rank > rank) result = tier, rank = found->second.rank;
  }
  return result;
}

Work work(const View& view, const Scope& scope) {
  Work sum;
  std::unordered_set<TrackId> tracks;
  for (const Step& step : view.steps(scope)) {
    sum.parameter_bytes += static_cast<double>(step.parameter_bytes);
    sum.kv_bytes += static_cast<double>(step.kv_bytes);
    sum.flops += static_cast<double>(step.flops);
    sum.time += static_cast<double>(step.duration);
    ++sum.steps;
    tracks.insert(step.track);
  }
  sum.tracks = std::max<std::size_t>(tracks.size(), 1);
  sum.bytes = sum.parameter_bytes + sum.kv_bytes;
  if (sum.steps > 0) sum.bytes_per_step = sum.bytes / static_cast<double>(sum.steps);
  return sum;
}

}  // namespace dmprof::roofline
