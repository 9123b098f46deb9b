#include "analyzers/registry/metric.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace dmprof {
namespace {

constexpr std::array by_names = {
    std::pair{By::request, "request"},   std::pair{By::layer, "layer"}, std::pair{By::tier, "tier"},
    std::pair{By::position, "position"}, std::pair{By::phase, "phase"}, std::pair{By::window, "window"},
};

}  // namespace

std::string_view to_text(MetricKind kind) {
  switch (kind) {
    case MetricKind::distribution:
      return "distribution";
    case MetricKind::array:
      return "array";
    case MetricKind::shares:
      return "shares";
    case MetricKind::scalar:
      break;
  }
  return "scalar";
}

std::string_view to_text(Direction direction) {
  switch (direction) {
    case Direction::higher_is_better:
      return "higher_is_better";
    case Direction::lower_is_better:
      return "lower_is_better";
    case Direction::none:
      break;
  }
  return "none";
}

std::string_view to_text(ValueStatus status) {
  switch (status) {
    case ValueStatus::ok:
      return "ok";
    case ValueStatus::invalid:
      return "invalid";
    case ValueStatus::unavailable:
      break;
  }
  return "unavailable";
}

std::string_view to_text(By by) {
  const auto found =
      std::find_if(by_names.begin(), by_names.end(), [by](const auto& entry) { return entry.first == by; });
  return found == by_names.end() ? "" : found->second;
}

std::optional<By> parse_by(std::string_view text) {
  for (const auto& [by, name] : by_names) {
    if (text == name) return by;
  }
  return std::nullopt;
}

const Part* MetricValue::part(std::string_view wanted) const {
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const Part& part) { return part.name == wanted; });
  return found == parts.end() ? nullptr : &*found;
}

MetricValue unavailable(std::string reason) {
  MetricValue value;
  value.reason = std::move(reason);
  return value;
}

MetricValue scalar(double number, std::uint64_t samples) {
  MetricValue value;
  value.status = ValueStatus::ok;
  value.value = number;
  value.samples = samples;
  return value;
}

std::string definition_hash(const Metric& metric) {
  std::uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a
  for (const std::string* text : {&metric.name, &metric.unit, &metric.definition}) {
    for (const char c : *text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    hash = (hash ^ 0xff) * 0x100000001b3ull;  // keeps "ab"+"c" apart from "a"+"bc"
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace dmprof
