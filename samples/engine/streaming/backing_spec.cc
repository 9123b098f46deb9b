#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "samples/engine/streaming/backing.h"

namespace dmengine {
namespace {

using dmprof::ErrorKind;
using dmprof::fail;
using dmprof::Result;

constexpr std::string_view kThrottle = "throttle:";
constexpr double kLeastBandwidth = 1e3;
constexpr double kMostBandwidth = 1e15;
constexpr double kMostLatency = 1e10;  // ns

struct Unit {
  std::string_view name;
  double factor;
};
constexpr Unit kBandwidthUnits[] = {{"kB/s", 1e3},     {"MB/s", 1e6},        {"GB/s", 1e9},           {"TB/s", 1e12},
                                    {"KiB/s", 1024.0}, {"MiB/s", 1048576.0}, {"GiB/s", 1073741824.0}, {"B/s", 1}};
constexpr Unit kTimeUnits[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

// A decimal number followed by one of the units; nothing else around it.
template <std::size_t N>
std::optional<double> quantity(std::string_view text, const Unit (&units)[N]) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const Unit& unit : units) {
    if (rest == unit.name) return number * unit.factor;
  }
  return std::nullopt;
}

}  // namespace

Result<BackingSpec> parse_backing(std::string_view text) {
  const auto refuse = [&](std::string_view what) {
    return fail(ErrorKind::usage,
                fmt::format("--backing {}: {}; use file or throttle:BANDWIDTH,LATENCY such as throttle:2GB/s,20us",
                            text, what));
  };
  if (text == "file") return BackingSpec{};
  if (!text.starts_with(kThrottle)) return refuse("unknown backing store");
  std::string_view bandwidth_text = text.substr(kThrottle.size());
  std::string_view latency_text;
  if (const std::size_t comma = bandwidth_text.find(','); comma != std::string_view::npos) {
    latency_text = bandwidth_text.substr(comma + 1);
    bandwidth_text = bandwidth_text.substr(0, comma);
    if (latency_text.empty()) return refuse("no latency after the comma");
  }
  const auto bandwidth = quantity(bandwidth_text, kBandwidthUnits);
  if (!bandwidth || *bandwidth < kLeastBandwidth || *bandwidth > kMostBandwidth) {
    return refuse(fmt::format("'{}' is no bandwidth from 1kB/s to 1000TB/s", bandwidth_text));
  }
  const auto latency = latency_text.empty() ? std::optional(0.0) : quantity(latency_text, kTimeUnits);
  if (!latency || *latency > kMostLatency)
    return refuse(fmt::format("'{}' is no latency from 0ns to 10s", latency_text));
  return BackingSpec{true, {*bandwidth, static_cast<std::int64_t>(std::llround(*latency))}};
}

}  // namespace dmengine
