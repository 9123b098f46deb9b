#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "dmprof/base/quantity.h"
#include "samples/engine/streaming/backing.h"

namespace dmengine {
namespace {

using dmprof::ErrorKind;
using dmprof::fail;
using dmprof::Result;

constexpr std::string_view kThrottle = "throttle:";
constexpr double kLeastBandwidth = 1e3;
constexpr double kMostBandwidth = 1e15;
constexpr double kMostLatency = 10;  // s

// A decimal number followed by a unit; nothing else around it.
Result<double> quantity(std::string_view text, dmprof::Quantity kind) {
  if (text.find(' ') != std::string_view::npos) return fail(ErrorKind::usage, "has a blank");
  return dmprof::parse_quantity(text, kind);
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
  const auto bandwidth = quantity(bandwidth_text, dmprof::Quantity::bandwidth);
  if (!bandwidth || *bandwidth < kLeastBandwidth || *bandwidth > kMostBandwidth) {
    return refuse(fmt::format("'{}' is no bandwidth from 1kB/s to 1000TB/s", bandwidth_text));
  }
  const auto latency = latency_text.empty() ? Result<double>(0.0) : quantity(latency_text, dmprof::Quantity::duration);
  if (!latency || *latency > kMostLatency)
    return refuse(fmt::format("'{}' is no latency from 0ns to 10s", latency_text));
  return BackingSpec{true, {*bandwidth, static_cast<std::int64_t>(std::llround(*latency * 1e9))}};
}

}  // namespace dmengine
