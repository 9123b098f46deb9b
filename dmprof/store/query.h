// SQL over a recording: the chunks as ordinary tables (slice, instant, counter, …: one per event type), names resolved.
//
// Columns are those of dmprof/event/describe.h. A name, tier or enumeration appears as text under its own name and as a
// number under name_id, tier_id, point_id, …. A constraint on the time column (start, or time) reads only the chunks it
// can match. Plain tables (process, track, capacity, knob, loss, …) are in the file already: see FORMAT.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "dmprof/base/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace dmprof {

// Adds the tables to a connection whose main database is a recording. The connection stays the caller's.
Status register_tables(sqlite3* database);

struct CloseQuery {
  void operator()(sqlite3* database) const;
  void operator()(sqlite3_stmt* statement) const;
};
using QueryConnection = std::unique_ptr<sqlite3, CloseQuery>;
using QueryStatement = std::unique_ptr<sqlite3_stmt, CloseQuery>;

// Opens a recording for SQL written by a person or found in a file: read-only, and only reading is possible (authorizer
// with a list of allowed functions, no ATTACH, no schema changes, limits on depth, columns and length: a text or BLOB
// of more than 16 MiB is the error SQLITE_TOOBIG). Errors as Reader::open.
Result<QueryConnection> open_for_query(const std::string& path);

// Stops a runaway statement: the connection's statements fail with "interrupted" once the calling thread has computed
// for `seconds`. Waiting does not count: a reader that pauses (a pager) is no runaway statement. Looked at between
// steps of SQLite's machine: one function over long texts (replace, like) or one sort goes on to its end.
void limit_time(sqlite3* database, double seconds);

// Bounds what SQLite may allocate in the whole process; beyond it statements fail with SQLITE_NOMEM.
void limit_memory(std::uint64_t bytes);

}  // namespace dmprof
