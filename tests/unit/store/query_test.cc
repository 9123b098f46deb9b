#include "dmprof/store/query.h"

#include <gmock/gmock.h>

#include <regex>

#include "tests/unit/store/support.h"

namespace dmprof {
namespace {

using test::Folder;
using testing::ElementsAre;
using testing::HasSubstr;

// Rows as text, cells joined by '|'; one row "error: …" when it fails.
std::vector<std::string> run(sqlite3* database, const std::string& sql) {
  std::vector<std::string> rows;
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr);
  while (code == SQLITE_OK || code == SQLITE_ROW) {
    code = sqlite3_step(statement);
    if (code != SQLITE_ROW) break;
    std::string row;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
      if (i != 0) row += '|';
      row += text == nullptr ? "NULL" : text;
    }
    rows.push_back(row);
  }
  if (code != SQLITE_DONE) rows.assign(1, std::string("error: ").append(sqlite3_errmsg(database)));
  sqlite3_finalize(statement);
  return rows;
}

class Query : public testing::Test {
 protected:
  void SetUp() override {
    auto writer = test::begin_recording(folder_.file("a.dmprof"), {.chunk_rows = 100});
    std::vector<Event> events;
    for (int i = 0; i < 1000; ++i) {
      events.emplace_back(
          Slice{.track = 1, .start = i * 1000, .duration = 100 + i % 5, .name = static_cast<NameId>(1 + i % 2)});
    }
    for (std::uint64_t request = 1; request <= 3; ++request) {
      const auto at = static_cast<TimeNs>(request) * 100;
      events.emplace_back(
          RequestEvent{.track = 1, .time = at, .request = request, .point = RequestPoint::arrive, .tokens = 7});
      events.emplace_back(
          RequestEvent{.track = 1, .time = at + 40, .request = request, .point = RequestPoint::first_token});
      if (request == 2) continue;  // it never ends
      events.emplace_back(RequestEvent{
          .track = 1, .time = at + 90, .request = request, .point = RequestPoint::end, .tokens = 20 + request});
    }
    events.emplace_back(Transfer{.track = 2, .start = 5, .duration = 6, .from = 2, .to = 1, .bytes = 4096});
    events.emplace_back(Counter{.track = 2, .time = 1, .name = 1, .value = 2.5});
    ASSERT_TRUE(writer->accept(events));
    ASSERT_TRUE(writer->finish());
    auto opened = open_for_query(folder_.file("a.dmprof"));
    ASSERT_TRUE(opened) << opened.error().message;
    database_ = opened->release();
  }
  void TearDown() override { sqlite3_close(database_); }

  std::vector<std::string> sql(const std::string& text) { return run(database_, text); }

  Folder folder_;
  sqlite3* database_ = nullptr;
};

TEST_F(Query, shows_names_and_tiers_as_text_beside_their_ids) {
  EXPECT_THAT(sql("SELECT name, name_id, count(*), sum(duration) FROM slice GROUP BY name"),
              ElementsAre("draft|1|500|51000", "verify|2|500|51000"));
  EXPECT_THAT(sql("SELECT from_tier, to_tier, to_tier_id, bytes FROM transfer"), ElementsAre("backing|dram|1|4096"));
  EXPECT_THAT(sql("SELECT value FROM counter"), ElementsAre("2.5"));
  EXPECT_THAT(sql("SELECT point, point_id FROM request_event LIMIT 2"), ElementsAre("arrive|0", "first_token|2"));
}

TEST_F(Query, joins_events_with_plain_tables) {
  EXPECT_THAT(sql("SELECT track.name, count(*) FROM slice JOIN track ON track.id = slice.track GROUP BY 1"),
              ElementsAre("main|1000"));
}

TEST_F(Query, finds_the_same_rows_by_time_as_without_the_index) {
  for (const char* condition :
       {"start >= 5000 AND start < 8000", "start > 5000 AND start <= 8000", "start = 7000",
        "start BETWEEN 990000 AND 2000000", "start < 0", "start > 4500.5 AND start < 7000.5", "start > NULL",
        "start < 9e99", "start >= 99000 AND name = 'verify'", "name = 'nothing'", "name = 'DRAFT' COLLATE NOCASE",
        "name = 5", "start <= 9223372036854775807", "start > -9223372036854775808", "name > 'e'"}) {
    const auto fast = sql(std::string("SELECT count(*), sum(start) FROM slice WHERE ") + condition);
    // A unary plus keeps SQLite from handing the condition to the table.
    const std::string plain = std::regex_replace(condition, std::regex("start|name"), "+$&");
    const auto slow =
        sql(std::string("SELECT count(*), sum(start) FROM (SELECT * FROM slice LIMIT -1) AS slice WHERE ") + plain);
    EXPECT_EQ(fast, slow) << condition;
  }
  EXPECT_THAT(sql("SELECT count(*) FROM slice WHERE start >= 5000 AND start < 8000"), ElementsAre("3"));
}

TEST_F(Query, gathers_requests_and_leaves_unknown_times_null) {
  EXPECT_THAT(sql("SELECT request, arrive, first_token, finish, prompt_tokens, output_tokens FROM request"),
              ElementsAre("1|100|140|190|7|21", "2|200|240|NULL|7|NULL", "3|300|340|390|7|23"));
}

TEST_F(Query, describes_its_columns) {
  EXPECT_THAT(sql("SELECT name FROM event_column WHERE kind = (SELECT kind FROM event_type WHERE name = 'counter')"),
              ElementsAre("track", "time", "name", "value"));
}

TEST_F(Query, can_only_read) {
  for (const char* statement :
       {"DELETE FROM chunk", "INSERT INTO name VALUES (9, 'x')", "UPDATE run SET reason = 'x'", "DROP TABLE chunk",
        "CREATE TABLE t (a)", "CREATE TEMP TABLE t (a)", "ATTACH '/tmp/other.db' AS other",
        "PRAGMA writable_schema = 1", "PRAGMA journal_mode = WAL", "VACUUM", "VACUUM INTO '/tmp/copy.db'",
        "BEGIN IMMEDIATE", "SELECT load_extension('x')", "SELECT randomblob(1000000000)", "SELECT zeroblob(1000000000)",
        "INSERT INTO slice VALUES (1)", "SELECT writefile('/tmp/x', 'y')", "SELECT readfile('/etc/passwd')",
        "SELECT fts3_tokenizer('simple')"}) {
    ASSERT_EQ(sql(statement).size(), 1U) << statement;
    EXPECT_THAT(sql(statement)[0], HasSubstr("error: ")) << statement;
  }
  EXPECT_THAT(sql("SELECT count(*) FROM name"), ElementsAre("2"));
}

TEST_F(Query, may_ask_the_schema_and_call_what_only_computes) {
  EXPECT_THAT(sql("SELECT char(100, 109), CHAR(65)"), ElementsAre("dm|A"));
  EXPECT_THAT(sql("SELECT sqlite_version()"), ElementsAre(sqlite3_libversion()));
  EXPECT_THAT(sql("SELECT name FROM pragma_table_info('clock') LIMIT 2"), ElementsAre("id", "name"));
  EXPECT_THAT(sql("SELECT count(*) FROM pragma_table_list WHERE name = 'chunk'"), ElementsAre("1"));
  EXPECT_THAT(sql("SELECT user_version > 0 FROM pragma_user_version"), ElementsAre("1"));
  EXPECT_THAT(sql("PRAGMA application_id"), ElementsAre("1145917510"));
  EXPECT_THAT(sql("SELECT value FROM json_each('[7,8]')"), ElementsAre("7", "8"));
  EXPECT_THAT(sql("SELECT json_object('a', 1)"), ElementsAre("{\"a\":1}"));
  for (const char* statement : {"PRAGMA user_version = 5", "PRAGMA application_id = 5", "PRAGMA trusted_schema = 1",
                                "PRAGMA wal_checkpoint", "SELECT * FROM pragma_wal_checkpoint"}) {
    EXPECT_THAT(sql(statement)[0], HasSubstr("error: ")) << statement;
  }
}

TEST_F(Query, whose_text_gets_too_long_is_an_error_and_never_an_empty_cell) {
  for (const char* statement :
       {"SELECT printf('%1000000000d', 1)", "SELECT format('%*d', 1000000000, 1)",
        "SELECT printf('%.1000000000f', 1.5)", "SELECT printf('%.*c%.*c', 9000000, 'a', 9000000, 'b')",
        "SELECT replace(printf('%.*c', 9000000, 'a'), 'a', 'bb')", "SELECT hex(printf('%.*c', 9000000, 'a'))",
        "SELECT printf('%.*c', 9000000, 'a') || printf('%.*c', 9000000, 'a')",
        "SELECT quote(printf('%.*c', 9000000, char(39)))",
        "SELECT group_concat(printf('%.*c', 9000000, 'a')) FROM (SELECT 1 UNION SELECT 2)",
        "SELECT json_array(printf('%.*c', 9000000, 'a'), printf('%.*c', 9000000, 'a'))"}) {
    EXPECT_THAT(sql(statement), ElementsAre("error: string or blob too big")) << statement;
  }
}

TEST_F(Query, formats_as_sqlite_does) {
  EXPECT_THAT(sql("SELECT printf('%d|%5.2f|%s|%q|%%', 7, 1.5, 'a', 'it''s'), format('%,d', 1234567)"),
              ElementsAre("7| 1.50|a|it''s|%|1,234,567"));
  EXPECT_THAT(sql("SELECT printf('') = '', printf('%s', '') = '', printf(NULL) IS NULL, printf('%') = '%'"),
              ElementsAre("1|1|1|1"));
  EXPECT_THAT(sql("SELECT length(printf('%.*c', 9000000, 'a'))"), ElementsAre("9000000"));
  EXPECT_THAT(sql("SELECT sum(length(printf('%04d', start / 1000))) FROM slice"), ElementsAre("4000"));
}

TEST_F(Query, that_never_ends_is_stopped) {
  limit_time(database_, 0.05);
  EXPECT_THAT(sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"),
              ElementsAre("error: interrupted"));
}

TEST_F(Query, over_a_damaged_chunk_is_an_error_and_not_fewer_rows) {
  sqlite3_close(database_);
  database_ = nullptr;
  test::tamper(folder_.file("a.dmprof"), "DELETE FROM column_data WHERE id % 64 = 2");
  database_ = open_for_query(folder_.file("a.dmprof")).value().release();
  EXPECT_THAT(sql("SELECT sum(duration) FROM slice")[0], HasSubstr("damaged"));
}

TEST(RegisterTables, on_a_database_that_is_no_recording_says_so_when_used) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(":memory:", &database), SQLITE_OK);
  ASSERT_TRUE(register_tables(database));
  EXPECT_THAT(run(database, "SELECT * FROM slice")[0], HasSubstr("no dmprof recording"));
  sqlite3_close(database);
}

}  // namespace
}  // namespace dmprof
