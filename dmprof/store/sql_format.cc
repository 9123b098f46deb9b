#include "dmprof/store/sql_format.h"

#include <map>
#include <memory>
#include <string>

#include "dmprof/store/connection.h"
#include "dmprof/store/statement.h"

namespace dmprof::store {

namespace {

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

// SQLite's own function can only be called in SQL: on a connection of its own, one statement per number of arguments.
struct Original {
  Database database;
  std::map<int, std::unique_ptr<sqlite3_stmt, Finalize>> by_arguments;

  sqlite3_stmt* statement(int arguments) {
    auto& kept = by_arguments[arguments];
    if (kept == nullptr) {
      // The letter in front tells a result that is too long, NULL, from an empty one, which SQLite makes NULL too.
      std::string sql = "SELECT printf('x' || ?1";
      for (int i = 2; i <= arguments; ++i) sql += ", ?" + std::to_string(i);
      sqlite3_stmt* prepared = nullptr;
      sqlite3_prepare_v2(database.get(), (sql + ")").c_str(), -1, &prepared, nullptr);
      kept.reset(prepared);
    }
    return kept.get();
  }
};

void format(sqlite3_context* context, int arguments, sqlite3_value** values) {
  if (arguments == 0 || sqlite3_value_type(values[0]) == SQLITE_NULL) return;  // NULL
  sqlite3_stmt* original = static_cast<Original*>(sqlite3_user_data(context))->statement(arguments);
  if (original == nullptr) return sqlite3_result_error_nomem(context);
  for (int i = 0; i < arguments; ++i) sqlite3_bind_value(original, i + 1, values[i]);
  const int stepped = sqlite3_step(original);
  const auto* text = stepped == SQLITE_ROW ? sqlite3_column_text(original, 0) : nullptr;
  if (text != nullptr) {
    sqlite3_result_text(context, reinterpret_cast<const char*>(text) + 1, sqlite3_column_bytes(original, 0) - 1,
                        SQLITE_TRANSIENT);
  } else if ((stepped & 0xff) == SQLITE_NOMEM) {
    sqlite3_result_error_nomem(context);
  } else {
    sqlite3_result_error_toobig(context);
  }
  sqlite3_reset(original);
  sqlite3_clear_bindings(original);
}

}  // namespace

Status register_format(sqlite3* database) {
  for (const char* name : {"printf", "format"}) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    auto original = std::make_unique<Original>();
    original->database.reset(opened);
    if (code != SQLITE_OK) return tl::unexpected(sqlite_error(opened, code, "preparing printf"));
    sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, sqlite3_limit(database, SQLITE_LIMIT_LENGTH, -1));
    // The connection owns it from here on, also when this fails.
    const int made = sqlite3_create_function_v2(
        database, name, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, original.release(), format, nullptr,
        nullptr, [](void* owned) { delete static_cast<Original*>(owned); });
    if (made != SQLITE_OK) return tl::unexpected(sqlite_error(database, made, "preparing printf"));
  }
  return {};
}

}  // namespace dmprof::store
