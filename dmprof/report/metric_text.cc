#include "dmprof/report/metric_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "dmprof/report/format.h"

namespace dmprof::report {

namespace {

constexpr std::size_t most_parts_shown = 16;

std::string parts_text(const MetricValue& value) {
  std::string line;
  for (std::size_t i = 0; i < value.parts.size() && i < most_parts_shown; ++i) {
    const Part& part = value.parts[i];
    line += fmt::format("{}{} {}", line.empty() ? "" : " · ", printable(part.name),
                        quantity(part.value, value.kind == MetricKind::shares ? "ratio" : value.unit));
  }
  if (value.parts.size() > most_parts_shown) line += fmt::format(" · {} more", value.parts.size() - most_parts_shown);
  return line;
}

std::string details(const MetricValue& value, const Style& style) {
  std::string text = style.bold(value.name) + "  " + style.dim(printable(value.definition)) + "\n";
  if (!value.window.empty()) text += fmt::format("  window: {}\n", printable(value.window));
  if (value.ok() && !value.reason.empty()) text += fmt::format("  {}\n", printable(value.reason));
  if (value.spread && value.ok()) {
    const Spread& spread = *value.spread;
    text += fmt::format("  P50 {} · P90 {} · P95 {} · P99 {} · max {}\n", quantity(spread.p50, value.unit),
                        quantity(spread.p90, value.unit), quantity(spread.p95, value.unit),
                        quantity(spread.p99, value.unit), quantity(spread.max, value.unit));
  }
  if (value.interval && value.ok()) {
    text += fmt::format("  95 % interval: {} to {}\n", quantity(value.interval->low, value.unit),
                        quantity(value.interval->high, value.unit));
  }
  if (!value.parts.empty()) text += "  " + parts_text(value) + "\n";
  for (const Beside& beside : value.beside)
    text += fmt::format("  {}: {}\n", printable(beside.name), quantity(beside.value, beside.unit));
  std::size_t widest = 0;
  for (const ByRow& row : value.by) widest = std::max(widest, display_width(printable(row.key)));
  for (const ByRow& row : value.by) {
    if (row.value.empty()) continue;
    text += fmt::format("  {}  {}  n={}\n", padded(printable(row.key), widest), value_text(row.value.front()),
                        thousands(row.value.front().samples));
  }
  return text;
}

}  // namespace

std::string value_text(const MetricValue& value) {
  if (value.status != ValueStatus::ok) return fmt::format("{}: {}", to_text(value.status), printable(value.reason));
  if (value.kind == MetricKind::array || !value.value) return parts_text(value);
  std::string text = quantity(*value.value, value.unit);
  if (value.spread)
    text = fmt::format("mean {} · P50 {} · P99 {}", text, quantity(value.spread->p50, value.unit),
                       quantity(value.spread->p99, value.unit));
  if (!value.subject.empty()) text += fmt::format(" ({})", printable(value.subject));
  return text;
}

std::string metrics_text(std::span<const MetricValue> values, bool definitions, const Style& style) {
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  for (const MetricValue& value : values) {
    name_width = std::max(name_width, display_width(value.name));
    if (value.ok()) value_width = std::max(value_width, display_width(value_text(value)));
  }
  value_width = std::min<std::size_t>(value_width, 60);
  std::string text;
  for (const MetricValue& value : values) {
    const std::string name = padded(value.name, name_width);
    if (!value.ok()) {
      text += fmt::format("{}  {}\n", style.bold(name), style.warn(value_text(value)));
    } else {
      text += fmt::format("{}  {}  {}\n", style.bold(name), padded(value_text(value), value_width),
                          style.dim("n=" + thousands(value.samples)));
    }
  }
  if (!definitions) return text;
  text += '\n';
  for (const MetricValue& value : values) text += details(value, style);
  return text;
}

std::string catalogue_text(std::span<const Metric> metrics, const Style& style) {
  std::string text;
  for (const Metric& metric : metrics) {
    text += fmt::format("{}  [{}]{}\n    {}\n    needs: {}\n", style.bold(metric.name), metric.unit,
                        metric.kind == MetricKind::scalar ? "" : fmt::format(" {}", to_text(metric.kind)),
                        metric.definition, metric.needs);
    std::string breakdowns;
    for (const By by : metric.by) breakdowns += fmt::format("{}{}", breakdowns.empty() ? "" : ", ", to_text(by));
    if (!breakdowns.empty()) text += fmt::format("    --by {}\n", breakdowns);
  }
  return text;
}

}  // namespace dmprof::report
