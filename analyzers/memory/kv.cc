// The KV cache: when it will be full, and how latency hangs on its size.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "analyzers/memory/memory.h"
#include "analyzers/registry/reported.h"
#include "analyzers/registry/statistics.h"
#include "analyzers/registry/view.h"

namespace dmprof {
namespace {

constexpr std::uint64_t fewest_readings = 3;
constexpr std::size_t fewest_requests = 5;  // of a size, for its P99 to count

MetricValue time_to_full(const View& view, const Scope& scope) {
  double n = 0, time = 0, usage = 0, squares = 0, products = 0, last = 0;
  std::optional<TimeNs> begin;
  for (const Counter& counter : view.recording().counters) {
    if (view.recording().name(counter.name) != "kv_cache_usage" || !reported::is_figure(counter.value)) continue;
    if (scope.range && !scope.range->overlaps(counter.time, counter.time)) continue;
    if (!begin) begin = counter.time;
    const auto at = static_cast<double>(counter.time - *begin);
    ++n, time += at, usage += counter.value, squares += at * at, products += at * counter.value;
    last = counter.value;
  }
  if (n < fewest_readings)
    return unavailable(fmt::format("fewer than {} readings of a counter 'kv_cache_usage'", fewest_readings));
  const double below = squares - time * time / n;
  const double slope = below > 0 ? (products - time * usage / n) / below : 0;  // per ns
  if (slope <= 0) return unavailable("KV cache usage does not rise: it will not be full at this rate");
  return scalar(std::max(0.0, (1 - last) / slope), static_cast<std::uint64_t>(n));
}

std::optional<double> number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return text.empty() || end != text.c_str() + text.size() ? std::nullopt : std::optional(value);
}

// P99 of the time to first token by size of the KV cache, for sizes the recording ran with.
std::map<double, double> tails_by_size(const Recording& recording) {
  std::map<TimeNs, double> sizes;  // by the time each began
  for (const Knob& knob : recording.knobs) {
    const std::optional<double> size = knob.name == "kv_blocks" ? number(knob.value) : std::nullopt;
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
                 .definition = "time until KV cache usage reaches 1 if it goes on rising as it did (least squares)",
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
