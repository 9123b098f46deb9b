#include "dmprof/export/csv.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

#include "dmprof/store/query.h"
#include "dmprof/store/reader.h"

namespace dmprof::exporting {

namespace {

std::string_view column_text(sqlite3_stmt* row, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
  return text == nullptr ? std::string_view()
                         : std::string_view(text, static_cast<std::size_t>(sqlite3_column_bytes(row, column)));
}

}  // namespace

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::vector<std::string> csv_tables() {
  std::vector<std::string> tables;
  for_each_event_type([&]<class E>() { tables.emplace_back(Describe<E>::table); });
  for (const char* plain : {"process", "clock", "clock_sync", "track", "capacity", "knob", "environment", "loss",
                            "emitted", "metric", "finding"})
    tables.emplace_back(plain);
  return tables;
}

Status write_csv(const std::string& recording, const std::string& table, Output& output) {
  const std::vector<std::string> tables = csv_tables();
  if (std::find(tables.begin(), tables.end(), table) == tables.end()) {
    return fail(ErrorKind::usage, fmt::format("there is no table {}; there are {}", table, fmt::join(tables, ", ")));
  }
  auto opened = open_for_query(recording);
  if (!opened) return tl::unexpected(opened.error());
  sqlite3* const database = opened->get();
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(database, fmt::format("SELECT * FROM \"{}\"", table).c_str(), -1, &prepared, nullptr) !=
      SQLITE_OK) {
    return fail(ErrorKind::bad_input,
                fmt::format("{}: table {} cannot be read: {}", recording, table, sqlite3_errmsg(database)));
  }
  const QueryStatement statement(prepared);
  const int columns = sqlite3_column_count(statement.get());
  std::string line;
  for (int i = 0; i < columns; ++i) line += (i > 0 ? "," : "") + csv_cell(sqlite3_column_name(statement.get(), i));
  line += "\r\n";
  DMPROF_TRY(output.claim(fmt::format("the table {} that dmprof wrote", table),
                          [&](std::string_view start) { return start.starts_with(line); }));
  output.write(line);
  int stepped = SQLITE_ROW;
  while (!output.failed() && (stepped = sqlite3_step(statement.get())) == SQLITE_ROW) {
    line.clear();
    for (int i = 0; i < columns; ++i) {
      if (i > 0) line += ',';
      line += csv_cell(column_text(statement.get(), i));
    }
    line += "\r\n";
    output.write(line);
  }
  if (stepped == SQLITE_DONE || output.failed()) return {};
  return fail(ErrorKind::bad_input,
              fmt::format("{}: table {} is damaged: {}", recording, table, sqlite3_errmsg(database)));
}

}  // namespace dmprof::exporting
