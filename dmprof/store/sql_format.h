// printf() and format() for SQL typed by a person, with the one thing that SQLite's own lack: a result that is too long
// is an error, where theirs is silently NULL.
#pragma once

#include "dmprof/base/error.h"
#include "dmprof/store/sqlite_api.h"

namespace dmprof::store {

// Replaces both in a connection. Results are as long as the connection's limit on lengths admits.
Status register_format(sqlite3* database);

}  // namespace dmprof::store
