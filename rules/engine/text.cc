#include "rules/engine/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace dmprof::rules {
namespace {

std::string scaled(double value, std::span<const std::pair<double, const char*>> scale) {
  for (const auto& [factor, unit] : scale) {
    if (value >= factor) return fmt::format("{:.3g} {}", value / factor, unit);
  }
  return fmt::format("{:.3g} {}", value / scale.back().first, scale.back().second);
}

std::optional<double> percentile(const MetricValue& value, std::string_view which) {
  if (!value.spread) return std::nullopt;
  if (which == "p50") return value.spread->p50;
  if (which == "p90") return value.spread->p90;
  if (which == "p95") return value.spread->p95;
  if (which == "p99") return value.spread->p99;
  if (which == "max") return value.spread->max;
  return std::nullopt;
}

std::optional<std::string> lookup(const std::string& name, std::span<const MetricValue> values,
                                  const std::map<std::string, double>& thresholds) {
  if (name.starts_with(":")) {
    const auto found = thresholds.find(name.substr(1));
    return found == thresholds.end() ? std::nullopt : std::optional(fmt::format("{:g}", found->second));
  }
  const std::size_t dot = name.find('.'), last = name.rfind('_');
  for (const MetricValue& value : values) {
    if (value.kind == MetricKind::shares && name.starts_with(value.name + "_")) {
      const Part* part = value.part(name.substr(value.name.size() + 1));
      if (!value.ok() || part != nullptr) return value.ok() ? in_words(part->value, value.unit) : "unavailable";
    }
    if (value.name == name) return value.ok() && value.value ? in_words(*value.value, value.unit) : "unavailable";
    if (dot != std::string::npos && value.name == name.substr(0, dot) && name.substr(dot) == ".subject") {
      return value.subject.empty() ? "unavailable" : value.subject;
    }
    if (last != std::string::npos && value.name == name.substr(0, last) && value.kind == MetricKind::distribution) {
      const std::optional<double> number = percentile(value, std::string_view(name).substr(last + 1));
      return number ? in_words(*number, value.unit) : "unavailable";
    }
  }
  return std::nullopt;
}

}  // namespace

std::string in_words(double value, const std::string& unit) {
  constexpr std::array<std::pair<double, const char*>, 4> times = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
  constexpr std::array<std::pair<double, const char*>, 5> rates = {
      {{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}}};
  if (unit == "ratio") return fmt::format("{:.1f} %", value * 100);
  if (unit == "ns") return scaled(value, times);
  if (unit == "B/s") return scaled(value, rates);
  return unit.empty() ? fmt::format("{:.3g}", value) : fmt::format("{:.3g} {}", value, unit);
}

std::string fill(const std::string& text, std::span<const MetricValue> values,
                 const std::map<std::string, double>& thresholds) {
  std::string filled;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at);
    const std::size_t close = open == std::string::npos ? open : text.find('}', open);
    if (close == std::string::npos) return filled + text.substr(at);
    filled += text.substr(at, open - at);
    const std::string name = text.substr(open + 1, close - open - 1);
    filled += lookup(name, values, thresholds).value_or(text.substr(open, close - open + 1));
    at = close + 1;
  }
  return filled;
}

std::optional<std::string> fill_plain(const std::string& text, std::span<const MetricValue> values) {
  std::string filled;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at);
    const std::size_t close = open == std::string::npos ? open : text.find('}', open);
    if (close == std::string::npos) return filled + text.substr(at);
    filled += text.substr(at, open - at);
    const std::string name = text.substr(open + 1, close - open - 1);
    const auto value =
        std::find_if(values.begin(), values.end(), [&](const MetricValue& one) { return one.name == name; });
    if (value == values.end() || !value->ok() || !value->value) return std::nullopt;
    const double number = *value->value, whole = std::round(number);
    filled += std::abs(number - whole) < 1e-9 ? fmt::format("{:.0f}", whole) : fmt::format("{:.3g}", number);
    at = close + 1;
  }
  return filled;
}

}  // namespace dmprof::rules
