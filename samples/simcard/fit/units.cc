#include "samples/simcard/fit/units.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <span>

namespace dmprof::twin {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr Unit kSizes[] = {{"", 1},         {"B", 1},           {"kB", 1e3},         {"KB", 1e3},           {"MB", 1e6},
                           {"GB", 1e9},     {"TB", 1e12},       {"KiB", 1024.0},     {"MiB", 1048576.0},    {"GiB", 1073741824.0}};
constexpr Unit kBandwidths[] = {{"B/s", 1},    {"kB/s", 1e3},      {"MB/s", 1e6},        {"GB/s", 1e9},
                                {"TB/s", 1e12}, {"KiB/s", 1024.0}, {"MiB/s", 1048576.0}, {"GiB/s", 1073741824.0}};
constexpr Unit kTimes[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

tl::unexpected<Error> wrong(std::string_view text, std::string_view example) {
  return fail(ErrorKind::usage, fmt::format("\"{}\" is not understood; write it as {}", text.substr(0, 40), example));
}

Result<double> with_unit(std::string_view text, std::span<const Unit> units, double most, std::string_view example) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return wrong(text, example);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const Unit& known : units) {
    if (known.name != unit) continue;
    if (!(number * known.factor <= most)) return wrong(text, example);
    return number * known.factor;
  }
  return wrong(text, example);
}

}  // namespace

Result<double> parse_number(std::string_view text) {
  constexpr Unit none[] = {{"", 1}};
  return with_unit(text, none, 1e15, "a number such as 8");
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  const auto bytes = with_unit(text, kSizes, 1e15, "a size such as 4MiB");
  if (!bytes) return tl::unexpected(bytes.error());
  return static_cast<std::uint64_t>(*bytes);
}

Result<double> parse_bandwidth(std::string_view text) {
  const auto rate = with_unit(text, kBandwidths, 1e15, "a bandwidth such as 1GB/s");
  if (rate && *rate < 1000) return wrong(text, "a bandwidth of at least 1kB/s");
  return rate;
}

Result<std::int64_t> parse_time(std::string_view text) {
  const auto ns = with_unit(text, kTimes, 1e10, "a time of at most 10 s such as 300us");
  if (!ns) return tl::unexpected(ns.error());
  return static_cast<std::int64_t>(*ns);
}

Result<Throttle> parse_throttle(std::string_view text) {
  constexpr std::string_view prefix = "throttle:";
  if (!text.starts_with(prefix)) return wrong(text, "throttle:1GB/s,300us");
  text.remove_prefix(prefix.size());
  const std::size_t comma = text.find(',');
  const auto rate = parse_bandwidth(text.substr(0, comma));
  if (!rate) return tl::unexpected(rate.error());
  Throttle throttle{*rate, 0};
  if (comma != std::string_view::npos) {
    const auto latency = parse_time(text.substr(comma + 1));
    if (!latency) return tl::unexpected(latency.error());
    throttle.latency = *latency;
  }
  return throttle;
}

}  // namespace dmprof::twin
