// What a calculator answers: named figures with their formula, and perhaps a table.
#pragma once

#include <string>
#include <vector>

#include "dmprof/report/style.h"

namespace dmprof::cli {

struct Figure {
  std::string name;  // "kv_bytes_per_token"
  double value = 0;
  std::string unit;  // as in the metric catalogue, or "B", "FLOP/B", "tokens"
  std::string how;   // formula, and its trap
};

struct Sheet {
  std::string calculator;
  std::vector<Figure> figures;
  std::vector<std::string> columns;  // of the table; empty: no table
  std::vector<std::string> units;    // of its columns
  std::vector<std::vector<double>> rows;
};

std::string sheet_text(const Sheet& sheet, const report::Style& style);
// {"calculator", "figures": [{"name", "value", "unit", "how"}], "rows": [{COLUMN: VALUE}]}
std::string sheet_json(const Sheet& sheet);

}  // namespace dmprof::cli
