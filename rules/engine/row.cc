#include "rules/engine/row.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace dmprof::rules {
namespace {

constexpr std::array<const char*, 5> percentiles = {"p50", "p90", "p95", "p99", "max"};

}  // namespace

std::vector<std::string> columns_of(const Catalogue& catalogue) {
  std::vector<std::string> columns;
  for (const Metric& metric : catalogue.metrics()) {
    if (metric.kind == MetricKind::array) continue;
    columns.push_back(metric.name);
    for (const std::string& part : metric.part_names) columns.push_back(fmt::format("{}_{}", metric.name, part));
    if (metric.kind != MetricKind::distribution) continue;
    for (const char* percentile : percentiles) columns.push_back(fmt::format("{}_{}", metric.name, percentile));
  }
  return columns;
}

std::string metric_of(const std::string& column, const Catalogue& catalogue) {
  if (catalogue.find(column) != nullptr) return column;
  for (std::size_t end = column.rfind('_'); end != std::string::npos && end > 0; end = column.rfind('_', end - 1)) {
    const Metric* metric = catalogue.find(std::string_view(column).substr(0, end));
    if (metric == nullptr) continue;
    const std::string_view rest = std::string_view(column).substr(end + 1);
    const bool percentile = metric->kind == MetricKind::distribution &&
                            std::find(percentiles.begin(), percentiles.end(), rest) != percentiles.end();
    const bool part = std::find(metric->part_names.begin(), metric->part_names.end(), rest) != metric->part_names.end();
    if (percentile || part) return metric->name;
  }
  return "";
}

std::map<std::string, double> row_of(std::span<const MetricValue> values) {
  std::map<std::string, double> row;
  for (const MetricValue& value : values) {
    if (!value.ok()) continue;
    if (value.value) row[value.name] = *value.value;
    if (value.kind == MetricKind::shares) {
      for (const Part& part : value.parts) row[fmt::format("{}_{}", value.name, part.name)] = part.value;
    }
    if (!value.spread) continue;
    const Spread& spread = *value.spread;
    const std::array<double, 5> numbers = {spread.p50, spread.p90, spread.p95, spread.p99, spread.max};
    for (std::size_t i = 0; i < percentiles.size(); ++i)
      row[fmt::format("{}_{}", value.name, percentiles[i])] = numbers[i];
  }
  return row;
}

Result<Verdict> judge(const Rule& rule, Sandbox& sandbox, const std::map<std::string, double>& row,
                      const std::map<std::string, double>& thresholds) {
  DMPROF_TRY(sandbox.set_row(row));
  Verdict verdict;
  std::set<std::string> all, missing;
  for (const std::string& condition : rule.all) {
    auto outcome = sandbox.evaluate(condition, thresholds);
    if (!outcome)
      return fail(outcome.error().kind, fmt::format("{}: {}", rule.where(condition), outcome.error().message));
    if (outcome->truth == false) {  // decides, whatever was missing before it
      verdict.kind = Verdict::Kind::quiet;
      verdict.deciding = condition;
      verdict.columns.assign(outcome->columns.begin(), outcome->columns.end());
      return verdict;
    }
    for (const std::string& column : outcome->columns) {
      all.insert(column);
      if (!outcome->truth && !row.contains(column)) missing.insert(column);
    }
    if (outcome->truth) continue;
    verdict.kind = Verdict::Kind::not_evaluated;
    const bool complete = std::all_of(outcome->columns.begin(), outcome->columns.end(),
                                      [&row](const std::string& column) { return row.contains(column); });
    if (complete) verdict.undefined.push_back(condition);
  }
  verdict.columns.assign(all.begin(), all.end());
  verdict.missing.assign(missing.begin(), missing.end());
  if (verdict.kind != Verdict::Kind::not_evaluated) verdict.kind = Verdict::Kind::fires;
  return verdict;
}

std::map<std::string, double> thresholds_of(const Rule& rule, const std::map<std::string, double>& overrides) {
  std::map<std::string, double> thresholds = rule.thresholds;
  for (auto& [name, value] : thresholds) {
    const auto found = overrides.find(fmt::format("{}.{}", rule.id, name));
    if (found != overrides.end()) value = found->second;
  }
  return thresholds;
}

}  // namespace dmprof::rules
