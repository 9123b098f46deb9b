#include "dmprof/store/whole_pages.h"

#include <array>

#include "dmprof/store/sqlite_api.h"

namespace dmprof::store {

namespace {

constexpr const char* layer_name = "dmprof-whole-pages";

int whole_size(sqlite3_file* file, sqlite3_int64* size);

// Files keep their own state; only where one of their methods is found is changed. SQLite gives the files of one file
// system the same methods, so those of the first file are everybody's.
struct Methods {
  const sqlite3_io_methods* below;
  sqlite3_io_methods own;
};
const Methods& methods(const sqlite3_io_methods* of_a_file) {
  static const Methods both = [&] {
    Methods made{of_a_file, *of_a_file};
    made.own.xFileSize = whole_size;
    return made;
  }();
  return both;
}

int whole_size(sqlite3_file* file, sqlite3_int64* size) {
  const sqlite3_io_methods& below = *methods(nullptr).below;  // a file was opened before it is asked
  if (const int code = below.xFileSize(file, size); code != SQLITE_OK) return code;
  std::array<unsigned char, 2> written{};
  if (const int code = below.xRead(file, written.data(), written.size(), 16); code != SQLITE_OK) return code;
  const int page = written[0] << 8 | written[1];
  const sqlite3_int64 bytes = page == 1 ? 65536 : page;
  if (bytes > 0) *size -= *size % bytes;
  return SQLITE_OK;
}

int open_whole(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* granted) {
  sqlite3_vfs* below = sqlite3_vfs_find(nullptr);
  const int code = below->xOpen(below, name, file, flags, granted);
  if (code != SQLITE_OK || file->pMethods == nullptr || (flags & SQLITE_OPEN_MAIN_DB) == 0) return code;
  if (const Methods& both = methods(file->pMethods); file->pMethods == both.below) file->pMethods = &both.own;
  return code;
}

}  // namespace

const char* whole_pages_vfs() {
  static sqlite3_vfs layer{};
  static const bool registered = [] {
    const sqlite3_vfs* below = sqlite3_vfs_find(nullptr);
    if (below == nullptr) return false;
    layer = *below;
    layer.pNext = nullptr;
    layer.zName = layer_name;
    layer.xOpen = open_whole;
    return sqlite3_vfs_register(&layer, 0) == SQLITE_OK;
  }();
  return registered ? layer_name : nullptr;
}

}  // namespace dmprof::store
