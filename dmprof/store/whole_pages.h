// A file system layer for SQLite that shows a file without its last page where that page is cut off. SQLite itself
// reads such a page as if zeros followed, and would take them for rows.
#pragma once

namespace dmprof::store {

// Registers the layer once and returns its name, for `vfs=` of a file's URI; nullptr when SQLite has no file system at
// all. Thread-safe.
const char* whole_pages_vfs();

}  // namespace dmprof::store
