#include "dmprof/store/event_table.h"

#include <cmath>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "dmprof/store/chunk_walk.h"

namespace dmprof::store {

namespace {

// A column as SQL sees it: a field, or the text its id stands for.
struct SqlColumn {
  std::size_t field = 0;
  bool as_text = false;
};

// Texts by id, read when first needed.
class TextTable {
 public:
  TextTable(sqlite3* database, const char* sql) : database_(database), sql_(sql) {}

  // nullptr for an id the recording does not hold.
  const std::string* find(std::uint64_t id) {
    if (id >= texts_.size() && !load()) return nullptr;
    return id < texts_.size() ? &texts_[static_cast<std::size_t>(id)] : nullptr;
  }

  std::size_t id_of(std::string_view text) {
    load();
    for (std::size_t id = 0; id < texts_.size(); ++id) {
      if (texts_[id] == text) return id;
    }
    return texts_.size();
  }

 private:
  bool load() {
    auto statement = Statement::prepare(database_, sql_);
    if (!statement) return false;
    if (texts_.empty()) texts_.emplace_back();
    statement->bind(static_cast<std::int64_t>(texts_.size()));
    for (;;) {
      const Result<bool> row = statement->step();
      // Ids are dense; a gap means a damaged file, and must not size the table.
      if (!row || !*row || statement->integer(0) != static_cast<std::int64_t>(texts_.size())) return true;
      texts_.push_back(statement->text(1));
    }
  }

  sqlite3* database_;
  const char* sql_;
  std::vector<std::string> texts_;
};

struct Table : sqlite3_vtab {
  Table(sqlite3* connection, std::uint8_t event_kind)
      : sqlite3_vtab{},
        database(connection),
        kind(event_kind),
        types(column_types(event_kind)),
        names(connection, "SELECT id, text FROM main.name WHERE id >= ?1 ORDER BY id"),
        tiers(connection, "SELECT id, name FROM main.capacity WHERE id >= ?1 ORDER BY id") {}

  int report(const Error& error) {
    sqlite3_free(zErrMsg);
    zErrMsg = sqlite3_mprintf("%s", error.message.c_str());
    return error.kind == ErrorKind::bad_input ? SQLITE_CORRUPT_VTAB : SQLITE_ERROR;
  }

  sqlite3* database;
  std::uint8_t kind;
  std::span<const ColumnType> types;
  std::vector<SqlColumn> columns;
  std::size_t time_field = 0;  // start or time
  TextTable names;
  TextTable tiers;
  std::unique_ptr<ChunkWalk> idle;  // of the last cursor, with what it had decoded
};

struct Cursor : sqlite3_vtab_cursor {
  Cursor(Table& owner, std::unique_ptr<ChunkWalk> opened)
      : sqlite3_vtab_cursor{}, table(owner), owned(std::move(opened)), walk(*owned) {}

  Table& table;
  std::unique_ptr<ChunkWalk> owned;
  ChunkWalk& walk;
  TimeNs lowest = INT64_MIN;  // of the time column, both included
  TimeNs highest = INT64_MAX;
  std::uint64_t name = 0;  // wanted, when by_name
  std::size_t name_field = 0;
  bool by_name = false;
  std::size_t row = 0;
  std::size_t rows = 0;  // of the current chunk; 0 at the end
};

enum Constraint : int { lower_bound = 1, upper_bound = 2, name_equals = 4 };

std::string quoted(std::string_view name) { return '"' + std::string(name) + '"'; }

int connect(sqlite3* database, void* aux, int, const char* const*, sqlite3_vtab** out, char** error) {
  const auto kind = static_cast<std::uint8_t>(reinterpret_cast<std::uintptr_t>(aux));
  auto table = std::unique_ptr<Table>(new (std::nothrow) Table(database, kind));
  if (table == nullptr) return SQLITE_NOMEM;
  const auto usable =
      Statement::prepare(database, "SELECT count(*) FROM main.chunk, main.column_data, main.name LIMIT 0");
  if (!usable) {
    *error = sqlite3_mprintf("the main database is no dmprof recording; open a .dmprof file first");
    return SQLITE_ERROR;
  }
  std::string sql = "CREATE TABLE events (";
  for (std::size_t i = 0; i < table->types.size(); ++i) {
    const ColumnType& type = table->types[i];
    if (type.name == "start" || type.name == "time") table->time_field = i;
    const bool has_text =
        type.meaning == Meaning::name || type.meaning == Meaning::tier || type.meaning == Meaning::label;
    if (has_text) {
      table->columns.push_back({i, true});
      sql += quoted(type.name) + " TEXT, " + quoted(std::string(type.name) + "_id") + " INTEGER, ";
    } else {
      sql += quoted(type.name) + (type.value == ColumnType::Value::real ? " REAL, " : " INTEGER, ");
    }
    table->columns.push_back({i, false});
  }
  sql.replace(sql.size() - 2, 2, ")");
  if (const int code = sqlite3_declare_vtab(database, sql.c_str()); code != SQLITE_OK) {
    *error = sqlite3_mprintf("%s", sqlite3_errmsg(database));
    return code;
  }
  sqlite3_vtab_config(database, SQLITE_VTAB_INNOCUOUS);
  *out = table.release();
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete static_cast<Table*>(table);
  return SQLITE_OK;
}

int best_index(sqlite3_vtab* base, sqlite3_index_info* info) {
  const auto& table = *static_cast<Table*>(base);
  int used = 0;
  int arguments = 0;
  // Each kind of bound is taken once, in the order of filter(); SQLite checks every row again (omit stays 0).
  const auto take = [&](int bound, auto&& matches) {
    for (int i = 0; i < info->nConstraint && (used & bound) == 0; ++i) {
      const auto& constraint = info->aConstraint[i];
      if (constraint.usable == 0 || constraint.iColumn < 0) continue;
      const SqlColumn& column = table.columns[static_cast<std::size_t>(constraint.iColumn)];
      if (!matches(column, constraint.op, i)) continue;
      used |= bound;
      info->aConstraintUsage[i].argvIndex = ++arguments;
    }
  };
  // An equality on the time column serves as a lower bound.
  take(lower_bound, [&](const SqlColumn& column, int op, int) {
    return column.field == table.time_field &&
           (op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_EQ);
  });
  take(upper_bound, [&](const SqlColumn& column, int op, int) {
    return column.field == table.time_field && (op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE);
  });
  take(name_equals, [&](const SqlColumn& column, int op, int i) {
    return column.as_text && table.types[column.field].meaning == Meaning::name && op == SQLITE_INDEX_CONSTRAINT_EQ &&
           sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
  });
  double cost = 1e7;
  if ((used & lower_bound) != 0) cost /= 30;
  if ((used & upper_bound) != 0) cost /= 30;
  if ((used & name_equals) != 0) cost /= 4;
  info->idxNum = used;
  info->estimatedCost = cost;
  info->estimatedRows = static_cast<sqlite3_int64>(cost);
  return SQLITE_OK;
}

int open_cursor(sqlite3_vtab* base, sqlite3_vtab_cursor** out) {
  auto& table = *static_cast<Table*>(base);
  std::unique_ptr<ChunkWalk> walk = std::move(table.idle);
  if (walk == nullptr) {
    auto opened = ChunkWalk::open(table.database, table.kind);
    if (!opened) return table.report(opened.error());
    walk = std::make_unique<ChunkWalk>(std::move(*opened));
  }
  *out = new (std::nothrow) Cursor(table, std::move(walk));
  return *out == nullptr ? SQLITE_NOMEM : SQLITE_OK;
}

int close_cursor(sqlite3_vtab_cursor* base) {
  const std::unique_ptr<Cursor> cursor(static_cast<Cursor*>(base));
  cursor->table.idle = std::move(cursor->owned);
  return SQLITE_OK;
}

// Moves to the next row at or after cursor.row that can match, chunk by chunk.
int settle(Cursor& cursor) {
  for (;;) {
    if (cursor.row < cursor.rows) {
      const auto times = cursor.walk.times(cursor.table.time_field);
      const auto names = cursor.by_name ? cursor.walk.words(cursor.name_field) : std::span<const std::uint32_t>();
      if (Status whole = cursor.walk.take_damage(); !whole) return cursor.table.report(whole.error());
      for (; cursor.row < cursor.rows; ++cursor.row) {
        const TimeNs time = times[cursor.row];
        if (time >= cursor.lowest && time <= cursor.highest && (!cursor.by_name || names[cursor.row] == cursor.name)) {
          return SQLITE_OK;
        }
      }
    }
    const Result<bool> more = cursor.walk.next();
    if (!more) return cursor.table.report(more.error());
    cursor.row = 0;
    cursor.rows = *more ? static_cast<std::size_t>(cursor.walk.info().rows) : 0;
    if (!*more) return SQLITE_OK;
  }
}

// A bound as an integer that excludes no row the SQL value would keep; other types of value bound nothing.
TimeNs bound_value(sqlite3_value* value, TimeNs otherwise) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      return sqlite3_value_int64(value);
    case SQLITE_FLOAT: {
      const double real = sqlite3_value_double(value);
      if (!(std::fabs(real) < 9e15)) return otherwise;
      return static_cast<TimeNs>(otherwise == INT64_MIN ? std::floor(real) : std::ceil(real));
    }
    default:
      return otherwise;
  }
}

int filter(sqlite3_vtab_cursor* base, int used, const char*, int, sqlite3_value** arguments) {
  auto& cursor = *static_cast<Cursor*>(base);
  cursor.lowest = (used & lower_bound) != 0 ? bound_value(*arguments++, INT64_MIN) : INT64_MIN;
  cursor.highest = (used & upper_bound) != 0 ? bound_value(*arguments++, INT64_MAX) : INT64_MAX;
  cursor.by_name = false;
  cursor.row = cursor.rows = 0;
  if ((used & name_equals) != 0 && sqlite3_value_type(*arguments) == SQLITE_TEXT) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(*arguments));
    const auto length = static_cast<std::size_t>(sqlite3_value_bytes(*arguments));
    cursor.by_name = true;
    cursor.name = cursor.table.names.id_of({text, length});
    for (std::size_t i = 0; i < cursor.table.types.size(); ++i) {
      if (cursor.table.types[i].meaning == Meaning::name) cursor.name_field = i;
    }
  }
  // A row between the bounds may end later than `highest`, and its chunk begins no later than it.
  if (Status done = cursor.walk.select({cursor.lowest, cursor.highest == INT64_MAX ? INT64_MAX : cursor.highest + 1});
      !done) {
    return cursor.table.report(done.error());
  }
  return settle(cursor);
}

int next_row(sqlite3_vtab_cursor* base) {
  auto& cursor = *static_cast<Cursor*>(base);
  ++cursor.row;
  return settle(cursor);
}

int at_end(sqlite3_vtab_cursor* base) { return static_cast<Cursor*>(base)->rows == 0 ? 1 : 0; }

void result_text(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

int column_value(sqlite3_vtab_cursor* base, sqlite3_context* context, int index) {
  auto& cursor = *static_cast<Cursor*>(base);
  Table& table = cursor.table;
  const SqlColumn& column = table.columns[static_cast<std::size_t>(index)];
  const ColumnType& type = table.types[column.field];
  std::int64_t value = 0;
  double real = 0;
  switch (type.value) {
    case ColumnType::Value::byte:
      value = cursor.walk.bytes(column.field)[cursor.row];
      break;
    case ColumnType::Value::word:
      value = cursor.walk.words(column.field)[cursor.row];
      break;
    // SQL integers are signed: numbers of 2^63 and more appear negative.
    case ColumnType::Value::number:
      value = static_cast<std::int64_t>(cursor.walk.numbers(column.field)[cursor.row]);
      break;
    case ColumnType::Value::time:
      value = cursor.walk.times(column.field)[cursor.row];
      break;
    case ColumnType::Value::real:
      real = cursor.walk.reals(column.field)[cursor.row];
      break;
  }
  if (Status whole = cursor.walk.take_damage(); !whole) return table.report(whole.error());
  if (type.value == ColumnType::Value::real) {
    sqlite3_result_double(context, real);
  } else if (!column.as_text) {
    sqlite3_result_int64(context, value);
  } else if (type.meaning == Meaning::label) {
    result_text(context, type.words[static_cast<std::size_t>(value)]);
  } else {
    TextTable& texts = type.meaning == Meaning::name ? table.names : table.tiers;
    const std::string* text = texts.find(static_cast<std::uint64_t>(value));
    if (text != nullptr) result_text(context, *text);  // else NULL
  }
  return SQLITE_OK;
}

int row_id(sqlite3_vtab_cursor* base, sqlite3_int64* out) {
  const auto& cursor = *static_cast<Cursor*>(base);
  *out = static_cast<sqlite3_int64>((static_cast<std::uint64_t>(cursor.walk.info().id) << 20) + cursor.row);
  return SQLITE_OK;
}

const sqlite3_module* event_module() {
  static const sqlite3_module module = [] {
    sqlite3_module made{};
    made.xConnect = connect;  // no xCreate: the tables exist without CREATE VIRTUAL TABLE
    made.xBestIndex = best_index;
    made.xDisconnect = disconnect;
    made.xOpen = open_cursor;
    made.xClose = close_cursor;
    made.xFilter = filter;
    made.xNext = next_row;
    made.xEof = at_end;
    made.xColumn = column_value;
    made.xRowid = row_id;
    return made;
  }();
  return &module;
}

constexpr const char* request_view = R"sql(
CREATE TEMP VIEW IF NOT EXISTS request AS
  SELECT track.process AS process,
         request_event.request AS request,
         min(request_event.request_class) AS request_class,
         min(CASE WHEN point = 'arrive' THEN time END) AS arrive,
         min(CASE WHEN point = 'schedule' THEN time END) AS schedule,
         min(CASE WHEN point = 'first_token' THEN time END) AS first_token,
         max(CASE WHEN point IN ('end', 'fail') THEN time END) AS finish,
         max(CASE WHEN point = 'arrive' THEN tokens END) AS prompt_tokens,
         max(CASE WHEN point = 'schedule' THEN cached_tokens END) AS cached_tokens,
         max(CASE WHEN point = 'end' THEN tokens END) AS output_tokens,
         sum(point = 'preempt') AS preemptions,
         max(point = 'fail') AS failed
  FROM request_event JOIN main.track ON track.id = request_event.track
  GROUP BY 1, 2
)sql";

}  // namespace

Status register_event_tables(sqlite3* database) {
  int code = SQLITE_OK;
  for_each_event_type([&]<class E>() {
    if (code != SQLITE_OK) return;
    // The kind travels in the pointer: nothing to allocate, nothing to free.
    code = sqlite3_create_module_v2(database, std::string(Describe<E>::table).c_str(), event_module(),
                                    reinterpret_cast<void*>(std::uintptr_t{Describe<E>::kind}), nullptr);
  });
  if (code != SQLITE_OK) return tl::unexpected(sqlite_error(database, code, "adding the event tables"));
  return execute(database, request_view);
}

}  // namespace dmprof::store
