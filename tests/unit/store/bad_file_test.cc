#include <gmock/gmock.h>

#include <fstream>

#include "dmprof/store/annotations.h"
#include "dmprof/store/query.h"
#include "tests/unit/store/support.h"

namespace dmprof {
namespace {

using test::Folder;
using testing::HasSubstr;

Error open_error(const std::string& path) {
  const auto reader = Reader::open(path);
  if (reader) return {ErrorKind::usage, "it opened"};
  EXPECT_THAT(reader.error().message, HasSubstr(path));
  EXPECT_THAT(reader.error().message, testing::Not(HasSubstr("\n")));
  // The other two ways in say the same.
  EXPECT_EQ(Annotations::open(path).error().message, reader.error().message);
  EXPECT_EQ(open_for_query(path).error().message, reader.error().message);
  return reader.error();
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(BadFile, that_is_missing_is_an_error_of_the_environment) {
  const Folder folder;
  const Error error = open_error(folder.file("none.dmprof"));
  EXPECT_EQ(error.kind, ErrorKind::environment);
  EXPECT_THAT(error.message, HasSubstr("no such recording"));
}

TEST(BadFile, that_is_empty_a_directory_or_text_says_what_it_is) {
  const Folder folder;
  write_file(folder.file("empty"), "");
  EXPECT_THAT(open_error(folder.file("empty")).message, HasSubstr("empty file"));
  EXPECT_THAT(open_error(folder.path()).message, HasSubstr("a directory"));
  write_file(folder.file("text"), "{\"traceEvents\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}");
  const Error error = open_error(folder.file("text"));
  EXPECT_EQ(error.kind, ErrorKind::bad_input);
  EXPECT_THAT(error.message, HasSubstr("not a recording"));
  EXPECT_THAT(open_error("/dev/null").message, HasSubstr("not a regular file"));
}

TEST(BadFile, that_is_another_programs_database_is_refused) {
  const Folder folder;
  test::tamper(folder.file("other.db"), "CREATE TABLE chunk (id)");
  EXPECT_THAT(open_error(folder.file("other.db")).message, HasSubstr("not a dmprof recording"));
}

TEST(BadFile, of_a_newer_format_says_which_and_to_update) {
  const Folder folder;
  test::record_slices(folder.file("a.dmprof"), 10);
  test::tamper(folder.file("a.dmprof"), "PRAGMA user_version = 77");
  const Error error = open_error(folder.file("a.dmprof"));
  EXPECT_THAT(error.message, HasSubstr("format 77"));
  EXPECT_THAT(error.message, HasSubstr("update dmprof"));
}

TEST(BadFile, with_a_view_where_a_table_belongs_is_refused) {
  const Folder folder;
  test::record_slices(folder.file("a.dmprof"), 10);
  test::tamper(folder.file("a.dmprof"),
               "DROP TABLE finding; CREATE VIEW finding AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) "
               "SELECT i AS id, '' AS rule, '' AS severity, '' AS json FROM n");
  EXPECT_THAT(open_error(folder.file("a.dmprof")).message, HasSubstr("damaged"));
}

TEST(BadFile, with_a_damaged_schema_says_how_to_mend_it_in_clean_text) {
  const Folder folder;
  test::record_slices(folder.file("a.dmprof"), 10);
  test::tamper(folder.file("a.dmprof"),
               "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = 'CREATE ' || x'1b5b33316dff' || ' (' WHERE "
               "name = 'chunk'");
  const Error error = open_error(folder.file("a.dmprof"));
  EXPECT_EQ(error.kind, ErrorKind::bad_input);
  EXPECT_THAT(error.message, HasSubstr("record again or use a copy"));
  EXPECT_THAT(error.message, testing::Not(testing::AnyOf(HasSubstr("\x1b"), HasSubstr("\xff"))));
}

TEST(BadFile, of_a_killed_recorder_without_its_log_names_what_is_missing) {
  const Folder folder;
  auto writer = test::begin_recording(folder.file("a.dmprof"));
  write_file(folder.file("copy.dmprof"), read_file(folder.file("a.dmprof")));
  const Error error = open_error(folder.file("copy.dmprof"));
  EXPECT_EQ(error.kind, ErrorKind::bad_input);
  EXPECT_THAT(error.message, HasSubstr("copy.dmprof-wal, which is missing"));
}

TEST(BadFile, cut_off_anywhere_is_an_error_and_never_a_crash) {
  const Folder folder;
  test::record_slices(folder.file("a.dmprof"), 3000, 500);
  const std::string whole = read_file(folder.file("a.dmprof"));
  ASSERT_GT(whole.size(), 50'000U);
  int errors = 0;
  for (const std::size_t size : {1UL, 15UL, 16UL, 99UL, 100UL, 4096UL, 8192UL, 8193UL, 20000UL, whole.size() / 2,
                                 whole.size() - 8192, whole.size() - 1}) {
    write_file(folder.file("cut.dmprof"), whole.substr(0, size));
    errors += test::read_everything(folder.file("cut.dmprof")).empty() ? 0 : 1;
  }
  EXPECT_GE(errors, 11);  // the last byte of a page may be unused
}

TEST(BadFile, with_random_bytes_changed_never_crashes) {
  const Folder folder;
  test::record_slices(folder.file("a.dmprof"), 3000, 500);
  const std::string whole = read_file(folder.file("a.dmprof"));
  std::mt19937_64 random(5);
  int errors = 0;
  for (int round = 0; round < 60; ++round) {
    std::string changed = whole;
    for (int i = 0; i < 20; ++i) changed[random() % changed.size()] = static_cast<char>(random());
    write_file(folder.file("b.dmprof"), changed);
    errors += test::read_everything(folder.file("b.dmprof")).empty() ? 0 : 1;
  }
  EXPECT_GT(errors, 10);
}

TEST(BadFile, with_a_space_and_a_question_mark_in_its_name_is_no_bad_file) {
  const Folder folder;
  const std::string path = folder.file("50% of it? yes #1.dmprof");
  test::record_slices(path, 10);
  EXPECT_EQ(test::read_everything(path), "");
}

}  // namespace
}  // namespace dmprof
