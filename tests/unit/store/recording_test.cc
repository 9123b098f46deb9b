#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "tests/unit/store/support.h"

namespace dmprof {
namespace {

using test::Folder;

template <class E>
void expect_round_trip(std::size_t count) {
  const Folder folder;
  const std::string path = folder.file("a.dmprof");
  std::mt19937_64 random(Describe<E>::kind);
  TimeNs clock = 1'700'000'000'000'000'000;
  std::vector<E> events;
  std::vector<Event> wrapped;
  for (std::size_t i = 0; i < count; ++i) {
    events.push_back(test::random_event<E>(random, clock));
    wrapped.emplace_back(events.back());
  }
  auto writer = test::begin_recording(path, {.chunk_rows = 700});
  for (std::size_t i = 0; i < count; i += 333) {
    ASSERT_TRUE(writer->accept(std::span(wrapped).subspan(i, std::min<std::size_t>(333, count - i))));
  }
  EXPECT_EQ(writer->events_accepted(), count);
  ASSERT_TRUE(writer->finish());

  auto reader = Reader::open(path);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->template count<E>().value(), count);
  std::size_t i = 0;
  const Status read = reader->template for_each<E>({}, [&](const E& event) {
    ASSERT_LT(i, events.size());
    EXPECT_TRUE(test::same(event, events[i])) << Describe<E>::table << " " << i;
    ++i;
  });
  EXPECT_TRUE(read) << read.error().message;
  EXPECT_EQ(i, count);

  // A range gives exactly what looking at every event gives.
  for (int round = 0; round < 20; ++round) {
    const TimeNs begin = begin_of(events[random() % count]);
    const TimeRange range{begin, begin + static_cast<TimeNs>(random() % 100'000)};
    const auto expected = std::count_if(events.begin(), events.end(), [&](const E& event) {
      const TimeNs last = end_of(event);
      return begin_of(event) < range.end && (last > range.begin || (last == begin_of(event) && last >= range.begin));
    });
    EXPECT_EQ(reader->template all<E>(range).value().size(), static_cast<std::size_t>(expected));
  }
}

TEST(Recording, returns_every_event_of_every_type_unchanged_and_in_order) {
  for_each_event_type([]<class E>() { expect_round_trip<E>(2000); });
}

TEST(Recording, keeps_types_apart_when_they_arrive_mixed) {
  const Folder folder;
  auto writer = test::begin_recording(folder.file("a.dmprof"), {.chunk_rows = 10});
  std::vector<Event> events;
  for (int i = 0; i < 105; ++i) {
    events.emplace_back(Instant{.track = 1, .time = i, .name = 1});
    if (i % 5 == 0) events.emplace_back(Counter{.track = 2, .time = i, .name = 2, .value = i * 0.5});
  }
  ASSERT_TRUE(writer->accept(events));
  ASSERT_TRUE(writer->finish());
  auto reader = Reader::open(folder.file("a.dmprof"));
  EXPECT_EQ(reader->count<Instant>().value(), 105U);
  EXPECT_EQ(reader->count<Counter>().value(), 21U);
  EXPECT_EQ(reader->count<Kernel>().value(), 0U);
  EXPECT_DOUBLE_EQ(reader->all<Counter>().value().back().value, 50.0);
}

TEST(Recording, decodes_columns_as_typed_spans) {
  const Folder folder;
  test::record_slices(folder.file("a.dmprof"), 2500);
  auto reader = Reader::open(folder.file("a.dmprof"));
  TimeNs sum = 0;
  std::size_t chunks = 0;
  const Status read = reader->scan<Slice>({}, [&](const Chunk<Slice>& chunk) {
    ++chunks;
    for (const TimeNs duration : chunk.column<&Slice::duration>()) sum += duration;
    EXPECT_EQ(chunk.column<&Slice::depth>().size(), chunk.size());
  });
  ASSERT_TRUE(read);
  EXPECT_EQ(chunks, 3U);
  TimeNs expected = 0;
  for (int i = 0; i < 2500; ++i) expected += 100 + i % 7;
  EXPECT_EQ(sum, expected);
}

TEST(Recording, reads_only_the_chunks_a_range_touches_and_stops_when_told) {
  const Folder folder;
  test::record_slices(folder.file("a.dmprof"), 5000);
  auto reader = Reader::open(folder.file("a.dmprof"));
  std::size_t chunks = 0;
  ASSERT_TRUE(reader->scan<Slice>({2'100'000, 2'200'000}, [&](const Chunk<Slice>&) { ++chunks; }));
  EXPECT_EQ(chunks, 1U);
  chunks = 0;
  ASSERT_TRUE(reader->scan<Slice>({}, [&](const Chunk<Slice>&) { return ++chunks < 2; }));
  EXPECT_EQ(chunks, 2U);
  EXPECT_EQ(reader->chunks<Slice>().value().size(), 5U);
  EXPECT_EQ(reader->all<Slice>({5, 5}).value().size(), 0U);
}

TEST(Recording, can_be_scanned_inside_a_scan) {
  const Folder folder;
  test::record_slices(folder.file("a.dmprof"), 2000);
  auto reader = Reader::open(folder.file("a.dmprof"));
  std::uint64_t inner = 0;
  ASSERT_TRUE(reader->scan<Slice>({}, [&](const Chunk<Slice>& outer) {
    const TimeNs first = outer.column<&Slice::start>()[0];
    ASSERT_TRUE(reader->for_each<Slice>({first, first + 1}, [&](const Slice&) { ++inner; }));
    EXPECT_EQ(outer.column<&Slice::start>()[0], first);
  }));
  EXPECT_EQ(inner, 2U);
}

TEST(Recording, sums_by_name_without_reading_columns) {
  const Folder folder;
  test::record_slices(folder.file("a.dmprof"), 1001);
  test::tamper(folder.file("a.dmprof"), "DELETE FROM column_data");
  auto reader = Reader::open(folder.file("a.dmprof"));
  const auto names = reader->by_name<Slice>().value();
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(reader->name(names[0].name), "draft");
  EXPECT_EQ(names[0].count, 501U);
  EXPECT_EQ(names[1].count, 500U);
  TimeNs expected = 0;
  for (int i = 0; i < 1001; i += 2) expected += 100 + i % 7;
  EXPECT_EQ(names[0].duration, expected);
  EXPECT_EQ(names[1].first, 1000);
  EXPECT_EQ(names[0].last, 1000 * 1000 + 100 + 1000 % 7);
}

TEST(Recording, can_be_read_while_it_is_written) {
  const Folder folder;
  const std::string path = folder.file("a.dmprof");
  auto writer = test::begin_recording(path);
  ASSERT_TRUE(writer->sync());
  auto reader = Reader::open(path);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->run().value().end, RunEnd::recording);
  const Event event = Instant{.track = 1, .time = 5, .name = writer->intern("a new name")};
  ASSERT_TRUE(writer->accept({&event, 1}));
  ASSERT_TRUE(writer->sync());
  EXPECT_EQ(reader->count<Instant>().value(), 1U);
  EXPECT_EQ(reader->name(reader->all<Instant>().value().front().name), "a new name");
  ASSERT_TRUE(writer->finish("interrupted by the user"));
  const RunInfo run = reader->run().value();
  EXPECT_EQ(run.end, RunEnd::finished);
  EXPECT_EQ(run.reason, "interrupted by the user");
  EXPECT_GE(run.finished.value(), run.started);
}

TEST(Recording, shows_a_slow_stream_before_a_chunk_is_full) {
  const Folder folder;
  const std::string path = folder.file("a.dmprof");
  auto writer = test::begin_recording(path, {.flush_interval = std::chrono::milliseconds(0)});
  const Event event = Instant{.track = 1, .time = 5, .name = 1};
  ASSERT_TRUE(writer->accept({&event, 1}));
  auto reader = Reader::open(path);
  for (int wait = 0; wait < 1000 && reader->count<Instant>().value() == 0; ++wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(reader->count<Instant>().value(), 1U);
}

TEST(Recording, becomes_one_private_file_when_finished) {
  const Folder folder;
  const std::string path = folder.file("a.dmprof");
  test::record_slices(path, 10);
  EXPECT_FALSE(std::filesystem::exists(path + "-wal"));
  EXPECT_FALSE(std::filesystem::exists(path + "-shm"));
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST(Recording, refuses_events_whose_names_tracks_or_words_were_never_added) {
  const Folder folder;
  auto writer = test::begin_recording(folder.file("a.dmprof"));
  const Event bad[] = {Instant{.track = 9}, Instant{.name = 9}, Transfer{.to = 9},
                       RequestEvent{.point = static_cast<RequestPoint>(77)}};
  for (const Event& event : bad) {
    const Status refused = writer->accept({&event, 1});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  }
  const Event good = Instant{.track = 2, .name = 2};
  EXPECT_TRUE(writer->accept({&good, 1}));
  EXPECT_TRUE(writer->finish());
  const Status late = writer->accept({&good, 1});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, ErrorKind::usage);
}

TEST(Recording, does_not_replace_a_file_unless_told_and_never_a_foreign_one) {
  const Folder folder;
  const std::string path = folder.file("a.dmprof");
  test::record_slices(path, 10);
  EXPECT_EQ(Writer::create(path).error().kind, ErrorKind::usage);
  EXPECT_TRUE(Writer::create(path, {.overwrite = true}));
  const std::string letter = folder.file("letter.txt");
  {
    std::FILE* file = std::fopen(letter.c_str(), "w");
    std::fputs("dear reader, this is no recording", file);
    std::fclose(file);
  }
  EXPECT_EQ(Writer::create(letter, {.overwrite = true}).error().kind, ErrorKind::usage);
  EXPECT_TRUE(std::filesystem::exists(letter));
  EXPECT_EQ(Writer::create(folder.file("no/such/folder.dmprof")).error().kind, ErrorKind::environment);
  EXPECT_EQ(Writer::create(folder.path()).error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace dmprof
