#include "dmprof/report/catalogue_markdown.h"

#include <fmt/format.h>

#include "dmprof/report/markdown.h"

namespace dmprof::report {
namespace {

std::string better(Direction direction) {
  return direction == Direction::higher_is_better  ? "higher is better"
         : direction == Direction::lower_is_better ? "lower is better"
                                                   : "-";
}

std::string breakdowns(const Metric& metric) {
  std::string text;
  for (const By by : metric.by) text += fmt::format("{}{}", text.empty() ? "" : ", ", to_text(by));
  return text.empty() ? "-" : text;
}

}  // namespace

std::string catalogue_markdown(std::span<const Metric> metrics) {
  std::string text = fmt::format(
      "# Metrics\n\nMade from the catalogue (`dmprof metrics --markdown > docs/metrics.md`); change the metric in "
      "`analyzers/`, not this page. {} metrics.\n\nAsk for one with `dmprof --metric NAME`, broken down with `--by`. "
      "Every answer has its sample count, window and definition, and an interval where samples allow one; what a "
      "recording cannot support is `unavailable` with the reason.\n\n"
      "| metric | unit | kind | better | what it is | needs | `--by` |\n|---|---|---|---|---|---|---|\n",
      metrics.size());
  for (const Metric& metric : metrics) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", markdown_code(metric.name),
                        markdown_cell(metric.unit), to_text(metric.kind), better(metric.direction),
                        markdown_cell(metric.definition), markdown_cell(metric.needs), breakdowns(metric));
  }
  return text;
}

}  // namespace dmprof::report
