// The schema of a recording and its versions: dmprof/store/schema/NNN_*.sql, embedded at build time in order.
#pragma once

#include <span>
#include <string_view>

#include "dmprof/base/error.h"
#include "dmprof/store/sqlite_api.h"

namespace dmprof::store {

inline constexpr std::int32_t application_id = 0x444D5046;  // "DMPF", tells a recording from any other SQLite file

std::span<const std::string_view> migrations();  // migrations()[n] leads from version n to n + 1
inline int newest_version() { return static_cast<int>(migrations().size()); }

// Brings a database from its version to the newest one, in one transaction. An empty database becomes an empty
// recording.
Status migrate(sqlite3* database);

// Is this a recording that this version can read? Says what it is instead, and how to mend it. `path` is for the
// message. Returns the version.
Result<int> check_recording(sqlite3* database, const std::string& path);

}  // namespace dmprof::store
