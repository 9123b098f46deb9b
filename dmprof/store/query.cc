#include "dmprof/store/query.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "dmprof/event/describe.h"
#include "dmprof/store/connection.h"
#include "dmprof/store/event_table.h"
#include "dmprof/store/sql_format.h"
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
    "char",
    "coalesce",
    "concat",
    "concat_ws",
    "cos",
    "cosh",
    "count",
    "cume_dist",
    "date",
    "datetime",
    "degrees",
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
    "json_array",
    "json_array_length",
    "json_extract",
    "json_group_array",
    "json_group_object",
    "json_object",
    "json_quote",
    "json_type",
    "json_valid",
    "julianday",
    "lag",
    "last_value",
    "lead",
    "length",
    "like",
    "likelihood",
    "likely",
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
    "octet_length",
    "percent_rank",
    "pi",
    "pow",
    "power",
    "printf",
    "quote",
    "radians",
    "random",
    "rank",
    "replace",
    "round",
    "row_number",
    "rtrim",
    "sign",
    "sin",
    "sinh",
    "sqlite_source_id",
    "sqlite_version",
    "sqrt",
    "strftime",
    "string_agg",
    "substr",
    "substring",
    "sum",
    "tan",
    "tanh",
    "time",
    "timediff",
    "total",
    "trim",
    "trunc",
    "typeof",
    "unhex",
    "unicode",
    "unixepoch",
    "unlikely",
    "upper",
});
static_assert(std::is_sorted(allowed_functions.begin(), allowed_functions.end()));

// Pragmas that describe the schema, as statements and as tables (pragma_table_info('run')). Their argument is what they
// describe.
constexpr auto describing_pragmas =
    std::to_array<std::string_view>({"foreign_key_list", "function_list", "index_info", "index_list", "index_xinfo",
                                     "table_info", "table_list", "table_xinfo"});
static_assert(std::is_sorted(describing_pragmas.begin(), describing_pragmas.end()));
// Pragmas that tell a figure of the file; with an argument they would set it.
constexpr auto telling_pragmas =
    std::to_array<std::string_view>({"application_id", "encoding", "page_count", "page_size", "user_version"});
static_assert(std::is_sorted(telling_pragmas.begin(), telling_pragmas.end()));

std::string lower(const char* text) {
  std::string name = text == nullptr ? "" : text;
  for (char& letter : name) letter = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter);
  return name;
}

template <class Names>
bool contains(const Names& names, const std::string& name) {
  return std::binary_search(names.begin(), names.end(), name);
}

int authorize(void*, int action, const char* first, const char* second, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return contains(allowed_functions, lower(second)) ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA: {
      const std::string name = lower(first);
      const bool reads = contains(describing_pragmas, name) || (second == nullptr && contains(telling_pragmas, name));
      return reads ? SQLITE_OK : SQLITE_DENY;
    }
    default:
      return SQLITE_DENY;
  }
}

std::int64_t computed_ns() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return std::int64_t{spent.tv_sec} * 1'000'000'000 + spent.tv_nsec;
}

int past_deadline(void* deadline) {
  return computed_ns() > static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(deadline)) ? 1 : 0;
}

}  // namespace

Status register_tables(sqlite3* database) { return store::register_event_tables(database); }

void CloseQuery::operator()(sqlite3* database) const { sqlite3_close(database); }
void CloseQuery::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Result<QueryConnection> open_for_query(const std::string& path) {
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
  // One that this SQLite does not have is then unknown to queries too.
  const auto touch = [&](std::string_view table) {
    (void)store::Statement::prepare(connection, "SELECT 1 FROM " + std::string(table));
  };
  for (const std::string_view name : describing_pragmas) touch("pragma_" + std::string(name));
  for (const std::string_view name : telling_pragmas) touch("pragma_" + std::string(name));
  touch("json_each");
  touch("json_tree");
  sqlite3_limit(connection, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
  sqlite3_limit(connection, SQLITE_LIMIT_EXPR_DEPTH, 200);
  sqlite3_limit(connection, SQLITE_LIMIT_COMPOUND_SELECT, 50);
  sqlite3_limit(connection, SQLITE_LIMIT_COLUMN, 500);
  sqlite3_limit(connection, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000);
  sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(connection, SQLITE_LIMIT_WORKER_THREADS, 0);
  if (Status added = store::register_format(connection); !added) return tl::unexpected(added.error());
  sqlite3_set_authorizer(connection, authorize, nullptr);
  return QueryConnection(database->release());
}

void limit_time(sqlite3* database, double seconds) {
  // The deadline travels in the pointer: nothing to allocate, nothing to free.
  static_assert(sizeof(void*) == 8);
  const std::int64_t deadline = computed_ns() + static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e6) * 1e9);
  sqlite3_progress_handler(database, 10000, past_deadline,
                           reinterpret_cast<void*>(static_cast<std::uintptr_t>(deadline)));
}

void limit_memory(std::uint64_t bytes) { sqlite3_hard_heap_limit64(static_cast<sqlite3_int64>(bytes)); }

}  // namespace dmprof
