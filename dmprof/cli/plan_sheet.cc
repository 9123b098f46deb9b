#include "dmprof/cli/plan_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "dmprof/report/format.h"
#include "dmprof/report/metric_json.h"

namespace dmprof::cli {

std::string sheet_text(const Sheet& sheet, const report::Style& style) {
  std::size_t name = 0, value = 0;
  std::vector<std::string> values;
  for (const Figure& figure : sheet.figures) {
    values.push_back(report::quantity(figure.value, figure.unit));
    name = std::max(name, figure.name.size());
    value = std::max(value, values.back().size());
  }
  std::string text;
  for (std::size_t i = 0; i < sheet.figures.size(); ++i) {
    text += fmt::format("{:<{}}  {}  {}\n", sheet.figures[i].name, name,
                        style.bold(fmt::format("{:>{}}", values[i], value)), style.dim(sheet.figures[i].how));
  }
  if (sheet.columns.empty()) return text;
  std::vector<std::vector<std::string>> cells;
  std::vector<std::size_t> widths;
  for (const std::string& column : sheet.columns) widths.push_back(column.size());
  for (const std::vector<double>& row : sheet.rows) {
    auto& line = cells.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      line.push_back(report::quantity(row[i], sheet.units[i]));
      widths[i] = std::max(widths[i], line.back().size());
    }
  }
  text += '\n';
  const auto add = [&](const std::vector<std::string>& line) {
    for (std::size_t i = 0; i < line.size(); ++i)
      text += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", line[i], widths[i]);
    text += '\n';
  };
  add(sheet.columns);
  for (const auto& line : cells) add(line);
  return text;
}

std::string sheet_json(const Sheet& sheet) {
  nlohmann::ordered_json object = {{"calculator", sheet.calculator}, {"figures", nlohmann::ordered_json::array()}};
  for (const Figure& figure : sheet.figures)
    object["figures"].push_back(
        {{"name", figure.name}, {"value", figure.value}, {"unit", figure.unit}, {"how", figure.how}});
  object["rows"] = nlohmann::ordered_json::array();
  for (const std::vector<double>& row : sheet.rows) {
    nlohmann::ordered_json line;
    for (std::size_t i = 0; i < row.size(); ++i) line[sheet.columns[i]] = row[i];
    object["rows"].push_back(std::move(line));
  }
  return report::dump(object) + "\n";
}

}  // namespace dmprof::cli
