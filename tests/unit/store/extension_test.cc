// The loadable extension, loaded into SQLite as its shell does on `.load`.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/unit/store/support.h"

namespace dmprof {
namespace {

TEST(Extension, shows_chunks_as_tables_in_any_sqlite_program) {
  const test::Folder folder;
  test::record_slices(folder.file("a.dmprof"), 1234);
  const char* build = std::getenv("DMPROF_BINARY_DIR");
  ASSERT_NE(build, nullptr) << "run it through ctest";
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open_v2(folder.file("a.dmprof").c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  sqlite3_enable_load_extension(database, 1);
  char* error = nullptr;
  // No entry point is named: the shell finds it by the file's name too.
  sqlite3_load_extension(database, (std::string(build) + "/lib/dmprof_sqlite.so").c_str(), nullptr, &error);
  ASSERT_EQ(error, nullptr) << error;
  sqlite3_stmt* statement = nullptr;
  ASSERT_EQ(sqlite3_prepare_v2(database, "SELECT count(*), max(start) FROM slice WHERE name = 'draft'", -1, &statement,
                               nullptr),
            SQLITE_OK)
      << sqlite3_errmsg(database);
  ASSERT_EQ(sqlite3_step(statement), SQLITE_ROW) << sqlite3_errmsg(database);
  EXPECT_EQ(sqlite3_column_int64(statement, 0), 617);
  EXPECT_EQ(sqlite3_column_int64(statement, 1), 1'232'000);
  sqlite3_finalize(statement);
  sqlite3_close(database);
}

}  // namespace
}  // namespace dmprof
