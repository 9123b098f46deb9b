// dmprof query: SQL over a recording, read-only and sandboxed.
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "dmprof/base/exit_status.h"
#include "dmprof/cli/commands.h"
#include "dmprof/cli/coverage.h"
#include "dmprof/cli/hard_stop.h"
#include "dmprof/cli/output.h"
#include "dmprof/cli/recordings.h"
#include "dmprof/export/csv.h"
#include "dmprof/report/format.h"
#include "dmprof/report/metric_json.h"
#include "dmprof/store/query.h"

namespace dmprof::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t query_memory_bytes = 1 << 30;  // sorting a large recording takes some hundred MB

struct Flags {
  std::vector<std::string> words;  // [FILE] SQL
  bool csv = false;
  double timeout_s = 60;
};
constexpr double longest_timeout_s = 86400;
constexpr double grace_s = 0.5;  // for a statement to notice by itself that its time is up

std::string_view text_of(sqlite3_stmt* row, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
  return text == nullptr ? std::string_view()
                         : std::string_view(text, static_cast<std::size_t>(sqlite3_column_bytes(row, column)));
}

// BLOBs are shown as SQL would write them: x'00ff'.
std::string blob_of(sqlite3_stmt* row, int column) {
  const auto* bytes = static_cast<const unsigned char*>(sqlite3_column_blob(row, column));
  std::string text = "x'";
  for (int i = 0; i < sqlite3_column_bytes(row, column); ++i) text += fmt::format("{:02x}", bytes[i]);
  return text + "'";
}

std::string cell_text(sqlite3_stmt* row, int column) {
  switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL:
      return "";
    case SQLITE_BLOB:
      return blob_of(row, column);
    default:
      return std::string(text_of(row, column));
  }
}

Json cell_json(sqlite3_stmt* row, int column) {
  switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL:
      return nullptr;
    case SQLITE_INTEGER:
      return static_cast<std::int64_t>(sqlite3_column_int64(row, column));
    case SQLITE_FLOAT: {
      const double value = sqlite3_column_double(row, column);
      return std::isfinite(value) ? Json(value) : Json(nullptr);
    }
    case SQLITE_BLOB:
      return blob_of(row, column);
    default:
      return std::string(text_of(row, column));
  }
}

class Printer {
 public:
  virtual ~Printer() = default;
  virtual Status row(sqlite3_stmt* statement) = 0;
  virtual Status end() = 0;
};

class CsvPrinter : public Printer {
 public:
  Status header(sqlite3_stmt* statement) {
    return line(statement, [&](int column) { return exporting::csv_cell(sqlite3_column_name(statement, column)); });
  }
  Status row(sqlite3_stmt* statement) override {
    return line(statement, [&](int column) { return exporting::csv_cell(cell_text(statement, column)); });
  }
  Status end() override { return {}; }

 private:
  template <class Cell>
  Status line(sqlite3_stmt* statement, const Cell& cell) {
    std::string text;
    for (int column = 0; column < sqlite3_column_count(statement); ++column)
      text += (column > 0 ? "," : "") + cell(column);
    return write_out(text + "\n");
  }
};

class JsonPrinter : public Printer {
 public:
  explicit JsonPrinter(sqlite3_stmt* statement) {
    for (int column = 0; column < sqlite3_column_count(statement); ++column)
      columns_.push_back(sqlite3_column_name(statement, column));
  }
  Status row(sqlite3_stmt* statement) override {
    Json cells = Json::array();
    for (int column = 0; column < sqlite3_column_count(statement); ++column)
      cells.push_back(cell_json(statement, column));
    DMPROF_TRY(write_out((rows_++ == 0 ? head() : std::string(",\n  ")) + report::dump(cells, -1)));
    return {};
  }
  Status end() override { return write_out((rows_ == 0 ? head() : "") + "\n ]}\n"); }

 private:
  std::string head() const { return "{\"columns\":" + report::dump(columns_, -1) + ",\n \"rows\":[\n  "; }
  Json columns_ = Json::array();
  std::uint64_t rows_ = 0;
};

// Widths come from the first rows; later rows that are wider stick out instead of waiting for the whole result.
class TablePrinter : public Printer {
 public:
  explicit TablePrinter(sqlite3_stmt* statement) {
    std::vector<std::string> names;
    for (int column = 0; column < sqlite3_column_count(statement); ++column)
      names.push_back(report::printable(sqlite3_column_name(statement, column)));
    numeric_.assign(names.size(), true);
    pending_.push_back(std::move(names));
  }
  Status row(sqlite3_stmt* statement) override {
    std::vector<std::string> cells;
    for (int column = 0; column < sqlite3_column_count(statement); ++column) {
      const int type = sqlite3_column_type(statement, column);
      if (type == SQLITE_TEXT || type == SQLITE_BLOB) numeric_[static_cast<std::size_t>(column)] = false;
      cells.push_back(report::printable(cell_text(statement, column)));
    }
    pending_.push_back(std::move(cells));
    return pending_.size() < rows_before_widths && widths_.empty() ? Status{} : flush();
  }
  Status end() override { return flush(); }

 private:
  static constexpr std::size_t rows_before_widths = 1000;

  Status flush() {
    if (widths_.empty()) {
      widths_.assign(numeric_.size(), 0);
      for (const auto& cells : pending_) {
        for (std::size_t i = 0; i < cells.size(); ++i)
          widths_[i] = std::max(widths_[i], report::display_width(cells[i]));
      }
    }
    std::string text;
    for (const auto& cells : pending_) {
      std::string line;
      for (std::size_t i = 0; i < cells.size(); ++i)
        line += (i > 0 ? "  " : "") + report::padded(cells[i], widths_[i], numeric_[i]);
      while (!line.empty() && line.back() == ' ') line.pop_back();
      text += line + "\n";
    }
    pending_.clear();
    return write_out(text);
  }

  std::vector<std::vector<std::string>> pending_;
  std::vector<bool> numeric_;
  std::vector<std::size_t> widths_;
};

Result<std::unique_ptr<Printer>> make_printer(sqlite3_stmt* statement, bool csv, bool json) {
  if (json) return std::make_unique<JsonPrinter>(statement);
  if (!csv) return std::make_unique<TablePrinter>(statement);
  auto printer = std::make_unique<CsvPrinter>();
  DMPROF_TRY(printer->header(statement));
  return printer;
}

std::string out_of_time(double timeout_s) {
  return fmt::format("SQL: stopped after {} s of computing; ask for less, or allow more time with --timeout S",
                     timeout_s);
}

// SQLite's words for what the sandbox refused say nothing to the person who typed it.
Error sql_error(sqlite3* database, const std::string& recording, double timeout_s) {
  const int code = sqlite3_errcode(database) & 0xff;  // extended codes differ above it
  if (code == SQLITE_INTERRUPT) return {ErrorKind::usage, out_of_time(timeout_s)};
  if (code == SQLITE_TOOBIG)
    return {ErrorKind::usage,
            fmt::format("SQL: a text or BLOB in it would be longer than {}; make it shorter (substr), or ask for less",
                        report::bytes(static_cast<std::uint64_t>(sqlite3_limit(database, SQLITE_LIMIT_LENGTH, -1))))};
  if (code == SQLITE_NOMEM)
    return {ErrorKind::environment,
            fmt::format("SQL: it needs more than {} of memory; ask for less", report::bytes(query_memory_bytes))};
  if (code == SQLITE_AUTH)
    return {ErrorKind::usage, fmt::format("SQL: {}; query only reads the recording", sqlite3_errmsg(database))};
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
    return {ErrorKind::bad_input, fmt::format("{}: {}; the file is damaged, record again or use a copy", recording,
                                              sqlite3_errmsg(database))};
  return {ErrorKind::usage, fmt::format("SQL: {}", sqlite3_errmsg(database))};
}

// The commonest slips: only a FILE was typed, or a variable of a script was empty.
Status check_sql(const std::vector<std::string>& words) {
  const std::string& sql = words.back();
  std::error_code ignored;
  if (words.size() == 1 && (sql.ends_with(".dmprof") || std::filesystem::exists(sql, ignored))) {
    return fail(ErrorKind::usage,
                fmt::format("the SQL is missing: dmprof query {} \"SELECT count(*) FROM step\"", sql));
  }
  if (sql.find_first_not_of(" \t\r\n;") == std::string::npos)
    return fail(ErrorKind::usage, "SQL: the text is empty; try \"SELECT name FROM event_type\"");
  if (words.front().empty())
    return fail(ErrorKind::usage, "the name of the recording is empty; leave it out or name one");
  return {};
}

Result<ExitStatus> query_command(const Flags& flags, bool json) {
  if (flags.words.empty() || flags.words.size() > 2) {
    return fail(
        ErrorKind::usage,
        "dmprof query takes [FILE] and one SQL text, which needs quotes: dmprof query \"SELECT count(*) FROM step\"");
  }
  if (json && flags.csv) return fail(ErrorKind::usage, "--json and --csv exclude each other; choose one");
  if (!(flags.timeout_s > 0 && flags.timeout_s <= longest_timeout_s))
    return fail(ErrorKind::usage, "--timeout: a positive number of seconds, at most a day");
  const std::string& sql = flags.words.back();
  DMPROF_TRY(check_sql(flags.words));
  auto recording = recording_or_newest(flags.words.size() == 2 ? flags.words.front() : "");
  if (!recording) return tl::unexpected(recording.error());
  auto opened = open_for_query(recording->string());
  if (!opened) return tl::unexpected(opened.error());
  const QueryConnection& database = *opened;
  if (const std::string note = cut_off_note(recording->string()); !note.empty()) fmt::print(stderr, "note: {}\n", note);
  limit_memory(query_memory_bytes);
  limit_time(database.get(), flags.timeout_s);
  // A function or a sort that takes long is not looked into: then the process ends, which only reads.
  const HardStop last_resort(flags.timeout_s + grace_s, "dmprof: " + out_of_time(flags.timeout_s) + "\n",
                             static_cast<int>(status_of(ErrorKind::usage)));

  sqlite3_stmt* prepared = nullptr;
  const char* tail = nullptr;
  if (sqlite3_prepare_v2(database.get(), sql.c_str(), static_cast<int>(sql.size()) + 1, &prepared, &tail) !=
      SQLITE_OK) {
    return tl::unexpected(sql_error(database.get(), recording->string(), flags.timeout_s));
  }
  const QueryStatement statement(prepared);
  if (statement == nullptr) return fail(ErrorKind::usage, "SQL: the text holds no statement");
  // Blanks and comments behind the statement are no second one.
  sqlite3_stmt* second = nullptr;
  const bool sound = sqlite3_prepare_v2(database.get(), tail, -1, &second, nullptr) == SQLITE_OK;
  const QueryStatement another(second);
  if (!sound || another != nullptr) {
    return fail(ErrorKind::usage,
                fmt::format("SQL: one statement at a time; remove what follows it: {}", report::printable(tail)));
  }
  auto printer = make_printer(statement.get(), flags.csv, json);
  if (!printer) return tl::unexpected(printer.error());
  int stepped = SQLITE_ROW;
  while ((stepped = sqlite3_step(statement.get())) == SQLITE_ROW) DMPROF_TRY((*printer)->row(statement.get()));
  if (stepped != SQLITE_DONE) return tl::unexpected(sql_error(database.get(), recording->string(), flags.timeout_s));
  DMPROF_TRY((*printer)->end());
  return ExitStatus::done;
}

}  // namespace

DeclaredCommand declare_query(const Syntax& root, const std::shared_ptr<Shared>& shared) {
  const Syntax app = root.command("query", "Run SQL over a recording: dmprof query [FILE] \"SELECT …\"");
  auto flags = std::make_shared<Flags>();
  app.words("WORDS", flags->words, "[FILE] SQL; FILE is the newest recording when left out");
  app.flag("--json", shared->json, "Print {\"columns\":[…],\"rows\":[[…],…]}");
  app.flag("--csv", flags->csv, "Print comma-separated values");
  app.number("--timeout", flags->timeout_s, "S", "Seconds of computing after which the statement is stopped (60)");
  return {app, [flags, shared] { return query_command(*flags, shared->json); }};
}

}  // namespace dmprof::cli
