// One event type as a read-only SQL table over the chunks of the connection's main database.
#pragma once

#include "dmprof/base/error.h"
#include "dmprof/store/sqlite_api.h"

namespace dmprof::store {

// Registers a table for each event type, and the view `request` (one row a request) over request_event.
Status register_event_tables(sqlite3* database);

}  // namespace dmprof::store
