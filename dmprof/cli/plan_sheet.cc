#include "dmprof/cli/plan_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "dmprof/report/format.h"
#include "dmprof/report/metric_json.h"

namespace dmprof::cli {

namespace {

std::string words_text(const Sheet& sheet, const report::Style& style) {
  std::string text;
  for (const RowWords& words : sheet.words) {
    if (words.assumes.empty()) continue;
    text += fmt::format("\n{}\n", style.bold(words.name));
    if (!words.reason.empty()) text += fmt::format("  unavailable: {}\n", words.reason);
    if (words.reason.empty()) text += fmt::format("  assumes {}\n  costs   {}\n", words.assumes, words.costs);
  }
  return text;
}

}  // namespace

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
  std::size_t title = sheet.row_title.size();
  for (const RowWords& words : sheet.words) title = std::max(title, words.name.size());
  for (const std::vector<double>& row : sheet.rows) {
    auto& line = cells.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      line.push_back(std::isnan(row[i]) ? "-" : report::quantity(row[i], sheet.units[i]));
      widths[i] = std::max(widths[i], line.back().size());
    }
  }
  text += '\n';
  const auto add = [&](const std::string& label, const std::vector<std::string>& line) {
    if (!sheet.row_title.empty()) text += fmt::format("{:<{}}  ", label, title);
    for (std::size_t i = 0; i < line.size(); ++i)
      text += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", line[i], widths[i]);
    text += '\n';
  };
  add(sheet.row_title, sheet.columns);
  for (std::size_t i = 0; i < cells.size(); ++i) add(sheet.row_title.empty() ? "" : sheet.words[i].name, cells[i]);
  text += words_text(sheet, style);
  if (!sheet.closing.empty()) text += "\n" + sheet.closing + "\n";
  return text;
}

std::string sheet_json(const Sheet& sheet) {
  nlohmann::ordered_json object = {{"calculator", sheet.calculator}, {"figures", nlohmann::ordered_json::array()}};
  for (const Figure& figure : sheet.figures)
    object["figures"].push_back(
        {{"name", figure.name}, {"value", figure.value}, {"unit", figure.unit}, {"how", figure.how}});
  object["rows"] = nlohmann::ordered_json::array();
  for (std::size_t at = 0; at < sheet.rows.size(); ++at) {
    const std::vector<double>& row = sheet.rows[at];
    nlohmann::ordered_json line;
    if (!sheet.row_title.empty()) line[sheet.row_title] = sheet.words[at].name;
    for (std::size_t i = 0; i < row.size(); ++i)
      line[sheet.columns[i]] = std::isnan(row[i]) ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(row[i]);
    if (!sheet.row_title.empty()) {
      line["assumes"] = sheet.words[at].assumes;
      line["costs"] = sheet.words[at].costs;
      line["reason"] = sheet.words[at].reason;
    }
    object["rows"].push_back(std::move(line));
  }
  return report::dump(object) + "\n";
}

}  // namespace dmprof::cli
