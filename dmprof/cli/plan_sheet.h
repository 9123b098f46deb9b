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

// What a row is about, where the table has such a column, and what stands below the table or, in JSON, in the row.
struct RowWords {
  std::string name, assumes, costs;
  std::string reason;  // why its figures are unavailable, "" where they are not
};

struct Sheet {
  std::string calculator;
  std::vector<Figure> figures;
  std::vector<std::string> columns;       // of the table; empty: no table
  std::vector<std::string> units;         // of its columns
  std::vector<std::vector<double>> rows;  // NaN: unavailable
  std::string row_title = {};             // of the column of names, "" without
  std::vector<RowWords> words = {};       // one a row, with row_title
  std::string closing = {};               // a last remark, "" without
};

std::string sheet_text(const Sheet& sheet, const report::Style& style);
// {"calculator", "figures": [{"name", "value", "unit", "how"}], "rows": [{COLUMN: VALUE}]}; with words the row begins
// with its name under the title and ends with "assumes", "costs" and "reason".
std::string sheet_json(const Sheet& sheet);

}  // namespace dmprof::cli
