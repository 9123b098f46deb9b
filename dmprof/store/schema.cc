#include "dmprof/store/schema.h"

#include "dmprof/event/describe.h"
#include "dmprof/store/statement.h"

namespace dmprof::store {

namespace {

std::string_view coding_word(Coding coding) {
  switch (coding) {
    case Coding::delta:
      return "delta";
    case Coding::real:
      return "real";
    case Coding::plain:
      break;
  }
  return "plain";
}

// Writes what every chunk column is into the file itself, so that it explains itself to other programs.
Status describe_events(sqlite3* database) {
  auto type = Statement::prepare(database, "INSERT OR REPLACE INTO event_type VALUES (?1, ?2, ?3)");
  if (!type) return tl::unexpected(type.error());
  auto column = Statement::prepare(database, "INSERT OR REPLACE INTO event_column VALUES (?1, ?2, ?3, ?4, ?5)");
  if (!column) return tl::unexpected(column.error());
  Status done;
  for_each_event_type([&]<class E>() {
    if (!done) return;
    type->bind(std::int64_t{Describe<E>::kind}, Describe<E>::table, Describe<E>::doc);
    done = type->run();
    for_each_field<E>([&](const auto& field, std::size_t index) {
      if (!done) return;
      column->bind(std::int64_t{Describe<E>::kind}, static_cast<std::int64_t>(index), field.name,
                   coding_word(field.coding), field.doc);
      done = column->run();
    });
  });
  return done;
}

Status migrate_from(sqlite3* database, std::int64_t version) {
  for (auto next = static_cast<std::size_t>(version); next < migrations().size(); ++next) {
    DMPROF_TRY(execute(database, std::string(migrations()[next])));
  }
  DMPROF_TRY(describe_events(database));
  return execute(database, "PRAGMA application_id=" + std::to_string(application_id) +
                               "; PRAGMA user_version=" + std::to_string(newest_version()));
}

}  // namespace

Status migrate(sqlite3* database) {
  const auto version = query_integer(database, "PRAGMA user_version");
  if (!version) return tl::unexpected(version.error());
  if (*version == newest_version()) return {};
  DMPROF_TRY(execute(database, "BEGIN IMMEDIATE"));
  Status done = migrate_from(database, *version);
  if (done) done = execute(database, "COMMIT");
  if (!done) sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr);
  return done;
}

Result<int> check_recording(sqlite3* database, const std::string& path) {
  const auto at_path = [&](Error error) { return tl::unexpected(Error{error.kind, path + ": " + error.message}); };
  const auto application = query_integer(database, "PRAGMA application_id");
  if (!application) return at_path(application.error());
  const auto version = query_integer(database, "PRAGMA user_version");
  if (!version) return at_path(version.error());
  if (*application != application_id) {
    return fail(ErrorKind::bad_input, path + ": an SQLite database, but not a dmprof recording; name a .dmprof file");
  }
  if (*version > newest_version()) {
    return fail(ErrorKind::bad_input, path + ": written by a newer dmprof (format " + std::to_string(*version) +
                                          ", this one reads up to " + std::to_string(newest_version()) +
                                          "); update dmprof");
  }
  if (*version < 1) return fail(ErrorKind::bad_input, path + ": a recording that was never begun; record again");
  // A view in the place of a table could be made to run for ever.
  const auto tables = query_integer(database,
                                    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN "
                                    "('run','environment','name','process','clock',"
                                    "'clock_sync','track','capacity','knob','loss','emitted','chunk','column_data','"
                                    "chunk_name','chunk_track','metric',"
                                    "'finding')");
  if (!tables) return at_path(tables.error());
  if (*tables != 17)
    return fail(ErrorKind::bad_input, path + ": tables are missing; the file is damaged, record again or use a copy");
  return static_cast<int>(*version);
}

}  // namespace dmprof::store
