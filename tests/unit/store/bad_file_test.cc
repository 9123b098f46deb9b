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

// A recording of slices with what was computed of it, cut after `size` bytes (negative: so many from the end).
class CutOff : public testing::Test {
 protected:
  void SetUp() override {
    test::record_slices(folder_.file("a.dmprof"), 30'000, 500);
    auto notes = Annotations::open(folder_.file("a.dmprof"));
    ASSERT_TRUE(notes);
    // More than a page: the last pages of a recording are those of what was added last.
    const StoredMetric metric[] = {{"throughput", "v1", std::string(40'000, 'x')}};
    ASSERT_TRUE(notes->store_metrics(metric));
    whole_ = read_file(folder_.file("a.dmprof"));
    ASSERT_GT(whole_.size(), 300'000U);
  }
  void cut(std::int64_t size) {
    const auto kept = static_cast<std::size_t>(size < 0 ? static_cast<std::int64_t>(whole_.size()) + size : size);
    write_file(path_, whole_.substr(0, kept));
  }

  Folder folder_;
  std::string whole_;
  const std::string path_ = folder_.file("cut.dmprof");
};

TEST_F(CutOff, anywhere_is_noticed_and_never_a_crash_or_a_wrong_value) {
  std::vector<std::int64_t> sizes = {1, 15, 16, 99, 100, 4096, 8191, 8192, 8193, 20000, -1, -100, -8191, -8192, -8193};
  for (std::int64_t size = 30'000; size < static_cast<std::int64_t>(whole_.size()); size += 23'456)
    sizes.push_back(size);
  for (const std::int64_t size : sizes) {
    cut(size);
    const auto reader = Reader::open(path_);
    if (!reader) {
      EXPECT_EQ(reader.error().kind, ErrorKind::bad_input);
      const char* said = size < 16 && size > 0 ? "not a recording" : "cut off";
      EXPECT_THAT(open_error(path_).message, HasSubstr(said)) << size;
      continue;
    }
    EXPECT_EQ(reader->missing_bytes(), whole_.size() - read_file(path_).size());
    (void)test::read_everything(path_);
    std::uint64_t slices = 0;
    const Status read = reader->for_each<Slice>({}, [&](const Slice& slice) {
      ++slices;
      EXPECT_EQ(slice.duration, static_cast<TimeNs>(100 + slice.start / 1000 % 7));
      EXPECT_EQ(slice.name, 1 + slice.start / 1000 % 2);
    });
    EXPECT_LE(slices, 30'000U);
    EXPECT_THAT(read ? "cut off" : read.error().message, HasSubstr("cut off"));
    const auto added = Annotations::open(path_);
    ASSERT_FALSE(added);
    EXPECT_THAT(added.error().message, HasSubstr("nothing is added to it; use a whole copy"));
    EXPECT_EQ(read_file(path_).size(), whole_.size() - reader->missing_bytes()) << "reading changes nothing";
  }
}

TEST_F(CutOff, within_what_was_added_last_still_gives_every_event) {
  for (const std::int64_t size : {-1, -8191, -8192, -8193, -20'000}) {
    cut(size);
    const auto reader = Reader::open(path_);
    ASSERT_TRUE(reader) << reader.error().message;
    std::uint64_t slices = 0;
    EXPECT_TRUE(reader->for_each<Slice>({}, [&](const Slice&) { ++slices; }));
    EXPECT_EQ(slices, 30'000U);
    const auto metrics = reader->metrics();
    ASSERT_FALSE(metrics);
    EXPECT_THAT(metrics.error().message, HasSubstr("use a whole copy"));
  }
}

TEST_F(CutOff, within_the_events_gives_those_before) {
  cut(static_cast<std::int64_t>(whole_.size()) * 3 / 4);
  const auto reader = Reader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  const auto slices = reader->all<Slice>();
  ASSERT_TRUE(slices) << slices.error().message;
  EXPECT_GT(slices->size(), 5000U);
  EXPECT_LT(slices->size(), 30'000U);
}

TEST_F(CutOff, is_not_said_of_a_whole_recording_one_still_written_or_one_whose_recorder_was_killed) {
  EXPECT_EQ(Reader::missing_bytes(folder_.file("a.dmprof")), 0U);
  auto writer = test::begin_recording(folder_.file("b.dmprof"));
  ASSERT_TRUE(writer->sync());
  EXPECT_EQ(Reader::missing_bytes(folder_.file("b.dmprof")), 0U);
  for (const char* suffix : {"", "-wal"})
    write_file(folder_.file(std::string("killed.dmprof") + suffix), read_file(folder_.file("b.dmprof") + suffix));
  EXPECT_EQ(Reader::missing_bytes(folder_.file("killed.dmprof")), 0U);
  EXPECT_EQ(test::read_everything(folder_.file("killed.dmprof")), "");
  EXPECT_EQ(Reader::missing_bytes(folder_.file("none.dmprof")), 0U);
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
