#include "dmprof/store/query.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "dmprof/event/describe.h"
#include "dmprof/store/connection.h"
#include "dmprof/store/event_table.h"
#include "dmprof/store/statement.h"

namespace dmprof {

namespace {

// Functions a query may call: none of them writes, loads code, or makes a value of a size of its caller's choice.
constexpr auto allowed_functions = std::to_array<std::string_view>({
    "->",
    "->>",
    "abs",
    "acos",
    "asin",
    "atan",
    "atan2",
    "avg",
    "ceil",
    "ceiling",
    "coalesce",
    "cos",
    "count",
    "cume_dist",
    "date",
    "datetime",
    "dense_rank",
    "exp",
    "first_value",
    "floor",
    "format",
    "glob",
    "group_concat",
    "hex",
    "ifnull",
    "iif",
    "instr",
    "json",
    "json_array_length",
    "json_extract",
    "json_type",
    "json_valid",
    "julianday",
    "lag",
    "last_value",
    "lead",
    "length",
    "like",
    "ln",
    "log",
    "log10",
    "log2",
    "lower",
    "ltrim",
    "max",
    "min",
    "mod",
    "nth_value",
    "ntile",
    "nullif",
    "percent_rank",
    "pi",
    "pow",
    "power",
    "printf",
    "quote",
    "rank",
    "replace",
    "round",
    "row_number",
    "rtrim",
    "sign",
    "sin",
    "sqrt",
    "strftime",
    "substr",
    "substring",
    "sum",
    "tan",
    "time",
    "total",
    "trim",
    "trunc",
    "typeof",
    "unicode",
    "unixepoch",
    "upper",
});
static_assert(std::is_sorted(allowed_functions.begin(), allowed_functions.end()));

int authorize(void*, int action, const char*, const char* second, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION: {
      std::string name = second == nullptr ? "" : second;
      for (char& letter : name) letter = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter);
      return std::binary_search(allowed_functions.begin(), allowed_functions.end(), name) ? SQLITE_OK : SQLITE_DENY;
    }
    default:
      return SQLITE_DENY;
  }
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int past_deadline(void* deadline) {
  return now_ns() > static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(deadline)) ? 1 : 0;
}

}  // namespace

Status register_tables(sqlite3* database) { return store::register_event_tables(database); }

Result<sqlite3*> open_for_query(const std::string& path) {
  auto database = store::open_read_only(path);
  if (!database) return tl::unexpected(database.error());
  sqlite3* connection = database->get();
  // Before the view is made: changing it drops everything temporary.
  sqlite3_exec(connection, "PRAGMA temp_store=MEMORY", nullptr, nullptr, nullptr);
  if (Status added = register_tables(connection); !added) return tl::unexpected(added.error());
  // SQLite declares a virtual table when it is first used, by what the authorizer would take for writing.
  Status connected;
  for_each_event_type([&]<class E>() {
    if (!connected) return;
    const auto used = store::Statement::prepare(connection, "SELECT 1 FROM " + std::string(Describe<E>::table));
    if (!used) connected = tl::unexpected(used.error());
  });
  if (!connected) return tl::unexpected(connected.error());
  sqlite3_limit(connection, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
  sqlite3_limit(connection, SQLITE_LIMIT_EXPR_DEPTH, 200);
  sqlite3_limit(connection, SQLITE_LIMIT_COMPOUND_SELECT, 50);
  sqlite3_limit(connection, SQLITE_LIMIT_COLUMN, 500);
  sqlite3_limit(connection, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000);
  sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(connection, SQLITE_LIMIT_WORKER_THREADS, 0);
  sqlite3_set_authorizer(connection, authorize, nullptr);
  return database->release();
}

void limit_time(sqlite3* database, double seconds) {
  // The deadline travels in the pointer: nothing to allocate, nothing to free.
  static_assert(sizeof(void*) == 8);
  const std::int64_t deadline = now_ns() + static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e6) * 1e9);
  sqlite3_progress_handler(database, 10000, past_deadline,
                           reinterpret_cast<void*>(static_cast<std::uintptr_t>(deadline)));
}

}  // namespace dmprof
