#include "dmprof/store/statement.h"

#include "dmprof/base/utf8.h"

namespace dmprof::store {

std::string clean_text(std::string_view text, std::size_t limit) { return clean_utf8(text, {.limit = limit}); }

Error sqlite_error(sqlite3* database, int code, std::string_view doing) {
  // SQLite quotes the file, its schema for one: whatever that holds.
  const std::string said = clean_utf8(database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code),
                                      {.control = false, .limit = 500});
  std::string message = std::string(doing) + ": ";
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return {ErrorKind::environment,
              message + "no space left; free some and record again, what was committed is readable"};
    case SQLITE_IOERR:
      return {ErrorKind::environment,
              message + "the disk refused it (" + said + "); check the space left and the disk"};
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return {ErrorKind::environment, message + said + "; check the path and its permissions"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorKind::environment, message + "another program holds it; wait for it to end"};
    case SQLITE_NOTADB:
      return {ErrorKind::bad_input, message + "this is no recording (not an SQLite database)"};
    case SQLITE_CORRUPT:
      return {ErrorKind::bad_input, message + "the file is damaged (" + said + "); record again or use a copy"};
    case SQLITE_TOOBIG:
      return {ErrorKind::bad_input,
              message + "a value is larger than any recording holds; the file is damaged, record again or use a copy"};
    default:
      return {ErrorKind::bad_input, message + said + "; the file seems damaged, record again or use a copy"};
  }
}

Result<Statement> Statement::prepare(sqlite3* database, std::string_view sql) {
  Statement made;
  made.database_ = database;
  const int code = sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &made.statement_, nullptr);
  if (code != SQLITE_OK) return tl::unexpected(sqlite_error(database, code, "reading the recording"));
  return made;
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::bind_at(int index, std::int64_t value) { sqlite3_bind_int64(statement_, index, value); }
void Statement::bind_at(int index, double value) { sqlite3_bind_double(statement_, index, value); }
void Statement::bind_at(int index, std::string_view value) {
  // A null pointer would bind NULL; an empty text is meant.
  sqlite3_bind_text64(statement_, index, value.data() == nullptr ? "" : value.data(), value.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
}
void Statement::bind_at(int index, std::span<const std::uint8_t> value) {
  if (value.empty()) {
    sqlite3_bind_zeroblob(statement_, index, 0);
  } else {
    sqlite3_bind_blob64(statement_, index, value.data(), value.size(), SQLITE_STATIC);
  }
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return tl::unexpected(sqlite_error(
      database_, code, sqlite3_stmt_readonly(statement_) ? "reading the recording" : "writing the recording"));
}

Status Statement::run() {
  for (;;) {
    const Result<bool> row = step();
    if (!row) {
      reset();
      return tl::unexpected(row.error());
    }
    if (!*row) break;
  }
  reset();
  return {};
}

void Statement::reset() { sqlite3_reset(statement_); }

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }
std::string Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (data == nullptr) return {};
  return clean_text({data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))});
}
std::span<const std::uint8_t> Statement::blob(int column) const {
  const auto* data = static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_, column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Status execute(sqlite3* database, const std::string& sql) {
  const int code = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return tl::unexpected(sqlite_error(database, code, "writing the recording"));
  return {};
}

Result<std::int64_t> query_integer(sqlite3* database, std::string_view sql, std::int64_t otherwise) {
  auto statement = Statement::prepare(database, sql);
  if (!statement) return tl::unexpected(statement.error());
  const Result<bool> row = statement->step();
  if (!row) return tl::unexpected(row.error());
  return *row ? statement->integer(0) : otherwise;
}

}  // namespace dmprof::store
