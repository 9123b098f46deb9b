// Entry point of dmprof_sqlite.so: in any SQLite shell, `.load dmprof_sqlite` shows the chunks of the open recording as
// tables.
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

#include "dmprof/store/event_table.h"

// The name follows from the file's name by SQLite's rule.
extern "C" __attribute__((visibility("default"))) int sqlite3_dmprofsqlite_init(sqlite3* database, char** error,
                                                                                const sqlite3_api_routines* api) {
  SQLITE_EXTENSION_INIT2(api);
  const dmprof::Status added = dmprof::store::register_event_tables(database);
  if (added) return SQLITE_OK;
  *error = sqlite3_mprintf("%s", added.error().message.c_str());
  return SQLITE_ERROR;
}
