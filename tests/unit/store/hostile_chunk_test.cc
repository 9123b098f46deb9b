// Recordings somebody made on purpose: every length and count in a chunk may lie.
#include <gmock/gmock.h>
#include <zstd.h>

#include "dmprof/store/codec.h"
#include "dmprof/store/room.h"
#include "tests/unit/store/support.h"

namespace dmprof {
namespace {

using test::Folder;
using testing::HasSubstr;

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

// The id of the stored `duration` column of the first chunk.
constexpr const char* duration_column = "(1 * 64 + 2)";

std::string after(const std::string& sql) {
  const Folder folder;
  test::record_slices(folder.file("a.dmprof"), 3000);
  test::tamper(folder.file("a.dmprof"), sql);
  return test::read_everything(folder.file("a.dmprof"));
}

TEST(HostileChunk, is_noticed_when_its_row_count_lies) {
  EXPECT_EQ(after("SELECT 1"), "");
  for (const char* rows :
       {"0", "-1", "999", "1001", "100000", "1048577", "9223372036854775807", "-9223372036854775808", "'many'"}) {
    EXPECT_THAT(after(std::string("UPDATE chunk SET rows = ") + rows + " WHERE id = 1"), HasSubstr("damaged")) << rows;
  }
}

TEST(HostileChunk, is_noticed_when_its_number_cannot_be) {
  EXPECT_THAT(after("UPDATE chunk SET id = 9223372036854775807 WHERE id = 1"), HasSubstr("damaged"));
  EXPECT_THAT(after("UPDATE chunk SET id = -5 WHERE id = 1"), HasSubstr("damaged"));
}

TEST(HostileChunk, is_noticed_when_its_list_of_columns_is_cut_or_nonsense) {
  EXPECT_THAT(after("UPDATE chunk SET columns = x'01' WHERE id = 1"), HasSubstr("damaged"));
  EXPECT_THAT(after("UPDATE chunk SET columns = x'0901' WHERE id = 1"), HasSubstr("damaged"));
  EXPECT_THAT(after("UPDATE chunk SET columns = zeroblob(5000) WHERE id = 1"), HasSubstr("damaged"));
  EXPECT_THAT(after("UPDATE chunk SET columns = columns || x'0000' WHERE id = 1"), HasSubstr("damaged"));
}

TEST(HostileChunk, is_noticed_when_a_column_is_missing_or_no_compressed_data) {
  EXPECT_THAT(after(std::string("DELETE FROM column_data WHERE id = ") + duration_column), HasSubstr("damaged"));
  EXPECT_THAT(after(std::string("UPDATE column_data SET data = x'' WHERE id = ") + duration_column),
              HasSubstr("damaged"));
  EXPECT_THAT(after(std::string("UPDATE column_data SET data = 7 WHERE id = ") + duration_column),
              HasSubstr("damaged"));
  EXPECT_THAT(after(std::string("UPDATE column_data SET data = zeroblob(900) WHERE id = ") + duration_column),
              HasSubstr("damaged"));
}

TEST(HostileChunk, that_would_unpack_to_gigabytes_is_refused_without_unpacking) {
  const std::vector<std::uint8_t> zeros(64 << 20);
  std::vector<std::uint8_t> bomb(ZSTD_compressBound(zeros.size()));
  bomb.resize(ZSTD_compress(bomb.data(), bomb.size(), zeros.data(), zeros.size(), 1));
  ASSERT_LT(bomb.size(), 10'000U);
  EXPECT_THAT(after("UPDATE column_data SET data = x'" + hex(bomb) + "' WHERE id = " + duration_column),
              HasSubstr("damaged"));
}

TEST(HostileChunk, with_any_single_bit_of_a_column_flipped_is_noticed) {
  const Folder folder;
  const std::string path = folder.file("a.dmprof");
  test::record_slices(path, 1000);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  sqlite3_blob* blob = nullptr;
  ASSERT_EQ(sqlite3_blob_open(database, "main", "column_data", "data", 1 * 64 + 2, 1, &blob), SQLITE_OK);
  const int size = sqlite3_blob_bytes(blob);
  std::mt19937_64 random(9);
  for (int round = 0; round < 100; ++round) {
    const int at = static_cast<int>(random() % static_cast<unsigned>(size));
    unsigned char byte = 0;
    sqlite3_blob_read(blob, &byte, 1, at);
    const unsigned char flipped = byte ^ static_cast<unsigned char>(1U << (random() % 8));
    ASSERT_EQ(sqlite3_blob_write(blob, &flipped, 1, at), SQLITE_OK);
    // The reader needs the lock that an open write handle may hold: go through a connection of its own each time.
    sqlite3_blob_close(blob);
    auto reader = Reader::open(path);
    ASSERT_TRUE(reader);
    const auto events = reader->all<Slice>();
    if (events) {
      // Only bits that mean nothing (a reserved flag, the checksum switch) may pass, and then the values must be right.
      for (std::size_t i = 0; i < events->size(); ++i) {
        ASSERT_EQ((*events)[i].duration, static_cast<TimeNs>(100 + i % 7)) << "bit flipped in byte " << at;
      }
    }
    ASSERT_EQ(sqlite3_blob_open(database, "main", "column_data", "data", 1 * 64 + 2, 1, &blob), SQLITE_OK);
    ASSERT_EQ(sqlite3_blob_write(blob, &byte, 1, at), SQLITE_OK);
  }
  sqlite3_blob_close(blob);
  sqlite3_close(database);
}

TEST(HostileChunk, gives_zeros_in_the_callback_and_an_error_afterwards) {
  const Folder folder;
  test::record_slices(folder.file("a.dmprof"), 100);
  test::tamper(folder.file("a.dmprof"), std::string("DELETE FROM column_data WHERE id = ") + duration_column);
  auto reader = Reader::open(folder.file("a.dmprof"));
  TimeNs sum = 0;
  const Status read = reader->scan<Slice>({}, [&](const Chunk<Slice>& chunk) {
    for (const TimeNs duration : chunk.column<&Slice::duration>()) sum += duration;
  });
  EXPECT_EQ(sum, 0);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("column duration"));
  EXPECT_TRUE(reader->scan<Slice>({}, [](const Chunk<Slice>& chunk) { chunk.column<&Slice::start>(); }))
      << "a column nobody touches does no harm";
}

TEST(HostileChunk, whose_sums_overflow_is_an_error) {
  EXPECT_NE(after("UPDATE chunk_track SET events = 9223372036854775807; UPDATE loss SET events = 9223372036854775807"),
            "");
}

// A million rows of equal values take a few bytes, and a file may hold any number of such chunks.
TEST(HostileChunk, of_countless_equal_rows_is_refused_before_memory_is_asked_for) {
  const Folder folder;
  const std::string path = folder.file("a.dmprof");
  test::record_slices(path, 1000);
  test::tamper(path,
               "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO chunk "
               "SELECT i, kind, 1048576, min_time, max_time, columns FROM chunk, n WHERE id = 1");
  auto reader = Reader::open(path);
  ASSERT_TRUE(reader) << reader.error().message;
  const auto events = reader->all<Slice>();
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(events.error().message, HasSubstr("damaged"));
  EXPECT_THAT(events.error().message, HasSubstr(path));
  const auto bytes = reader->bytes_in_memory<Slice>();
  ASSERT_TRUE(bytes);
  EXPECT_EQ(*bytes, (19'999ull * 1048576 + 1000) * sizeof(Slice));
}

TEST(Room, is_refused_as_damage_or_as_lack_of_memory) {
  constexpr std::uint64_t gib = 1ull << 30;
  EXPECT_TRUE(store::check_room("a", gib, 1, gib)) << "what fits is never doubted";
  const Status lies = store::check_room("a", 200 * gib, 311'000, gib);
  ASSERT_FALSE(lies);
  EXPECT_EQ(lies.error().kind, ErrorKind::bad_input);
  const Status large = store::check_room("a", 200 * gib, gib, gib);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().kind, ErrorKind::environment);
  EXPECT_FALSE(store::check_room("a", ~0ull, 0, gib));
  EXPECT_GT(store::memory_budget(), 1u << 20);
}

TEST(HostileChunk, with_names_that_have_gaps_is_an_error) {
  EXPECT_THAT(after("UPDATE name SET id = 4000000000 WHERE id = 2"), HasSubstr("damaged"));
}

}  // namespace
}  // namespace dmprof
