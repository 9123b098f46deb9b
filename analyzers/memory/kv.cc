// The KV cache: when it will be full, and how latency hangs on its size.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "analyzers/memory/memory.h"
#include "analyzers/registry/reported.h"
#include "analyzers/registry/statistics.h"
#include "analyzers/registry/view.h"
#include "dmprof/base/quantity.h"

namespace dmprof {
namespace {

constexpr std::uint64_t fewest_readings = 3;
constexpr std::size_t fewest_requests = 5;  // of a size, for its P99 to count

// Usage over time of one cache, by least squares.
class Usage {
 public:
  void add(TimeNs when, double usage) {
    if (n_ == 0) begin_ = when;
    const auto at = static_cast<double>(when - begin_);
    ++n_, time_ += at, usage_ += usage, squares_ += at * at, products_ += at * usage;
    last_ = usage;
  }
  std::uint64_t readings() const { return n_; }
  // ns from the last reading; nothing where it does not rise.
  std::optional<double> time_to_full() const {
    const auto n = static_cast<double>(n_);
    const double below = squares_ - time_ * time_ / n;
    const double slope = below > 0 ? (products_ - time_ * usage_ / n) / below : 0;  // per ns
    if (slope <= 0) return std::nullopt;
    return std::max(0.0, (1 - last_) / slope);
  }

 private:
  std::uint64_t n_ = 0;
  TimeNs begin_ = 0;
  double time_ = 0, usage_ = 0, squares_ = 0, products_ = 0, last_ = 0;
};

// Each card has a cache of its own; the one that is full first is meant.
MetricValue time_to_full(const View& view, const Scope& scope) {
  const Recording& recording = view.recording();
  std::map<TrackId, Usage> caches;
  for (const Counter& counter : recording.counters) {
    if (recording.name(counter.name) != "kv_cache_usage" || !reported::is_figure(counter.value)) continue;
    if (scope.range && !scope.range->overlaps(counter.time, counter.time)) continue;
    caches[counter.track].add(counter.time, counter.value);
  }
  const std::size_t all = caches.size();
  std::erase_if(caches, [](const auto& cache) { return cache.second.readings() < fewest_readings; });
  if (caches.empty())
    return unavailable(fmt::format("fewer than {} readings of a counter 'kv_cache_usage'", fewest_readings));
  MetricValue value = unavailable("KV cache usage does not rise: it will not be full at this rate");
  for (const auto& [track, cache] : caches) {
    const std::optional<double> time = cache.time_to_full();
    if (!time || (value.ok() && *value.value <= *time)) continue;
    value = scalar(*time, cache.readings());
    const auto named = recording.tracks.find(track);
    if (all > 1) value.subject = named == recording.tracks.end() ? fmt::format("track {}", track) : named->second.name;
  }
  return value;
}

// P99 of the time to first token by size of the KV cache, for sizes the recording ran with.
std::map<double, double> tails_by_size(const Recording& recording) {
  std::map<TimeNs, double> sizes;  // by the time each began
  for (const Knob& knob : recording.knobs) {
    const std::optional<double> size = knob.name == "kv_blocks" ? plain_number(knob.value) : std::nullopt;
    if (size && *size > 0) sizes[knob.since] = *size;
  }
  std::map<std::uint64_t, TimeNs> arrived;
  std::map<double, std::vector<double>> waits;
  for (const RequestEvent& event : recording.requests) {
    if (event.point == RequestPoint::arrive) arrived[event.request] = event.time;
    const auto arrival = arrived.find(event.request);
    if (event.point != RequestPoint::first_token || arrival == arrived.end()) continue;
    auto size = sizes.upper_bound(arrival->second);
    if (size == sizes.begin()) continue;
    waits[std::prev(size)->second].push_back(static_cast<double>(event.time - arrival->second));
    arrived.erase(arrival);
  }
  std::map<double, double> tails;
  for (auto& [size, samples] : waits) {
    if (samples.size() >= fewest_requests) tails[size] = spread_of(samples).p99;
  }
  return tails;
}

// d ln(P99) / -d ln(size) between neighbours; the steepest.
MetricValue sensitivity(const View& view, const Scope&) {
  const std::map<double, double> tails = tails_by_size(view.recording());
  if (tails.size() < 2)
    return unavailable(fmt::format(
        "needs {} requests at each of two sizes of the KV cache: a knob kv_blocks that is turned during the recording",
        fewest_requests));
  MetricValue value = scalar(0, tails.size());
  for (auto smaller = tails.begin(); std::next(smaller) != tails.end(); ++smaller) {
    const auto larger = std::next(smaller);
    if (smaller->second <= 0 || larger->second <= 0) continue;
    const double steepness = std::log(smaller->second / larger->second) / std::log(larger->first / smaller->first);
    if (value.subject.empty() || steepness > *value.value) {
      value.value = std::max(0.0, steepness);
      value.subject = fmt::format("{:.0f} to {:.0f} blocks: P99 {:.0f} to {:.0f} ms", larger->first, smaller->first,
                                  larger->second / 1e6, smaller->second / 1e6);
    }
  }
  value.window = "whole run";
  return value;
}

}  // namespace

void register_kv(Catalogue& catalogue) {
  catalogue.add({.name = "kv_time_to_full",
                 .unit = "ns",
                 .definition =
                     "time until KV cache usage reaches 1 if it goes on rising as it did (least squares); of several "
                     "caches, each on a track of its own, the one that is full first, which is named",
                 .needs = "a counter 'kv_cache_usage' that rises",
                 .events = Events::counters,
                 .direction = Direction::higher_is_better,
                 .compute = time_to_full});
  catalogue.add({.name = "kv_size_sensitivity",
                 .unit = "x",
                 .definition =
                     "relative growth of the P99 time to first token / relative shrinking of the KV cache, in "
                     "logarithms, between neighbouring sizes the recording ran with; the steepest",
                 .needs = "a knob kv_blocks that is turned during the recording, request events",
                 .events = Events::requests,
                 .direction = Direction::lower_is_better,
                 .compute = sensitivity});
}

}  // namespace dmprof
