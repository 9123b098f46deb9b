// A prepared statement with checked binding and reading, the only way this folder talks SQL. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "dmprof/base/error.h"
#include "dmprof/store/sqlite_api.h"

namespace dmprof::store {

// Turns the connection's last error into ours: a full disk and missing rights are `environment`, the rest is
// `bad_input`.
Error sqlite_error(sqlite3* database, int code, std::string_view doing);

// The text with every malformed UTF-8 byte replaced by '?', cut at `limit` bytes: names come from other people's
// programs and files, and end up in JSON and on terminals.
std::string clean_text(std::string_view text, std::size_t limit = 1U << 20);

class Statement {
 public:
  Statement() = default;
  static Result<Statement> prepare(sqlite3* database, std::string_view sql);
  Statement(Statement&& other) noexcept
      : database_(std::exchange(other.database_, nullptr)), statement_(std::exchange(other.statement_, nullptr)) {}
  Statement& operator=(Statement&& other) noexcept {
    std::swap(database_, other.database_);
    std::swap(statement_, other.statement_);
    return *this;
  }
  ~Statement();

  explicit operator bool() const { return statement_ != nullptr; }

  // Binds the values to ?1, ?2, …; texts and blobs must live until the statement is reset.
  template <class... Values>
  void bind(const Values&... values) {
    int index = 0;
    (bind_at(++index, values), ...);
  }
  void bind_at(int index, std::int64_t value);
  void bind_at(int index, double value);
  void bind_at(int index, std::string_view value);
  void bind_at(int index, const std::string& value) { bind_at(index, std::string_view(value)); }
  void bind_at(int index, const char* value) { bind_at(index, std::string_view(value)); }
  void bind_at(int index, std::span<const std::uint8_t> value);
  void bind_at(int index, std::uint64_t value) { bind_at(index, static_cast<std::int64_t>(value)); }
  void bind_at(int index, std::uint32_t value) { bind_at(index, static_cast<std::int64_t>(value)); }
  void bind_at(int index, int value) { bind_at(index, static_cast<std::int64_t>(value)); }
  void bind_at(int index, bool value) { bind_at(index, static_cast<std::int64_t>(value)); }

  Result<bool> step();  // true: there is a row
  Status run();         // steps to the end and resets
  void reset();

  // Columns of the current row; a value of another type is converted as SQLite does.
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  std::span<const std::uint8_t> blob(int column) const;  // valid until the next step

 private:
  sqlite3* database_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
};

// Runs statements that return nothing.
Status execute(sqlite3* database, const std::string& sql);

// First column of the first row, or `otherwise` when there is no row.
Result<std::int64_t> query_integer(sqlite3* database, std::string_view sql, std::int64_t otherwise = 0);

}  // namespace dmprof::store
