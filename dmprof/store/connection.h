// Opening the SQLite file of a recording: for writing a new one, for reading any, for adding to a finished one.
#pragma once

#include <memory>
#include <string>

#include "dmprof/base/error.h"
#include "dmprof/store/sqlite_api.h"

namespace dmprof::store {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

// Whether the file's header says that it is a recording; it may still be damaged, unfinished or newer.
bool is_recording_file(const std::string& path);

// A new file, mode 0600, WAL. An existing file is replaced only when `overwrite` is set and it is a recording, and
// written into where it is empty.
Result<Database> create_database(const std::string& path, bool overwrite, std::uint64_t max_file_bytes);

// The recording and what SQLite keeps beside it.
void remove_files(const std::string& path);

// Bytes that the file lacks at its end by its own header: a copy that was cut off. 0 where nothing is missing, where a
// log or a journal beside it may hold the rest, and where it is no recording. Looks at 100 bytes.
std::uint64_t bytes_missing(const std::string& path);

// Read-only, guarded against hostile files, checked to be a recording. Follows a recording that is being written; reads
// one whose recorder was killed, in a folder that may be read-only. One that is cut off opens where its schema can be
// read: statements then fail where they come to what is missing.
Result<Database> open_read_only(const std::string& path);

// Read-write, for a recording nobody writes to any more; folds a left-over log in.
Result<Database> open_read_write(const std::string& path);

}  // namespace dmprof::store
