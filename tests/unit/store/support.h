// What the store's tests share: a folder that cleans up, events at random, comparison field by field, raw SQL on a
// file.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <bit>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "dmprof/event/describe.h"
#include "dmprof/store/reader.h"
#include "dmprof/store/writer.h"

namespace dmprof::test {

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dmprof-store-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// One event with a plausible time and any value elsewhere; ids stay within what `begin_recording` added.
template <class E>
E random_event(std::mt19937_64& random, TimeNs& clock) {
  E event;
  for_each_field<E>([&](const auto& field, std::size_t) {
    using T = typename std::remove_cvref_t<decltype(field)>::Value;
    auto& value = event.*field.member;
    const std::uint64_t bits = random() >> (random() % 64);  // every magnitude
    if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(bits % Labels<T>::words.size());
    } else if constexpr (std::is_same_v<T, double>) {
      value = std::bit_cast<double>(bits);
    } else if (field.meaning == Meaning::track || field.meaning == Meaning::name || field.meaning == Meaning::tier) {
      value = static_cast<T>(bits % 3);
    } else if (field.meaning == Meaning::time) {
      value = static_cast<T>(clock += static_cast<TimeNs>(random() % 2000));
    } else if (field.meaning == Meaning::duration) {
      value = static_cast<T>(random() % 5000);
    } else {
      value = static_cast<T>(bits);
    }
  });
  return event;
}

template <class E>
bool same(const E& a, const E& b) {
  bool equal = true;
  for_each_field<E>([&](const auto& field, std::size_t) {
    using T = typename std::remove_cvref_t<decltype(field)>::Value;
    if constexpr (std::is_same_v<T, double>) {
      equal = equal && std::bit_cast<std::uint64_t>(a.*field.member) == std::bit_cast<std::uint64_t>(b.*field.member);
    } else {
      equal = equal && a.*field.member == b.*field.member;
    }
  });
  return equal;
}

// A writer with two names, two tracks and two tiers.
inline std::unique_ptr<Writer> begin_recording(const std::string& path, const WriterOptions& options = {}) {
  auto writer = Writer::create(path, options);
  EXPECT_TRUE(writer) << (writer ? "" : writer.error().message);
  if (!writer) return nullptr;
  EXPECT_EQ((*writer)->intern("draft"), 1U);
  EXPECT_EQ((*writer)->intern("verify"), 2U);
  const auto process =
      (*writer)->add_process({.pid = 42, .parent_pid = 1, .name = "engine", .command = "engine --fast"});
  const auto clock = (*writer)->add_clock({.name = "host", .kind = ClockKind::monotonic, .quality = "CLOCK_MONOTONIC"});
  EXPECT_TRUE(process && clock);
  for (const char* name : {"main", "prefetch"}) {
    EXPECT_TRUE((*writer)->add_track({.process = 1, .thread_id = 43, .clock = 1, .name = name}));
  }
  for (const char* name : {"dram", "backing"}) {
    EXPECT_TRUE((*writer)->add_capacity({.process = 1, .name = name, .kind = "tier"}));
  }
  return std::move(*writer);
}

// A finished recording of `count` slices of 100 ns, 1000 ns apart, names in turn.
inline void record_slices(const std::string& path, std::size_t count, std::size_t chunk_rows = 1000) {
  auto writer = begin_recording(path, {.chunk_rows = chunk_rows});
  std::vector<Event> events;
  for (std::size_t i = 0; i < count; ++i) {
    events.push_back(Slice{.track = 1,
                           .start = static_cast<TimeNs>(i) * 1000,
                           .duration = static_cast<TimeNs>(100 + i % 7),
                           .name = static_cast<NameId>(1 + i % 2),
                           .step = i / 2 + 1,
                           .argument = i * i});
  }
  ASSERT_TRUE(writer->accept(events));
  ASSERT_TRUE(writer->finish());
}

// Runs SQL on the file behind the store's back.
inline void tamper(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  char* error = nullptr;
  sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &error);
  ASSERT_EQ(error, nullptr) << error;
  sqlite3_close(database);
}

// Reads every table and every column of every chunk; returns the first error's text, empty when all is well.
inline std::string read_everything(const std::string& path) {
  auto reader = Reader::open(path);
  if (!reader) return reader.error().message;
  std::string error;
  const auto note = [&](const auto& result) {
    if (!result && error.empty()) error = result.error().message;
  };
  for_each_event_type([&]<class E>() {
    note(reader->template for_each<E>({}, [](const E&) {}));
    note(reader->template count<E>());
    if constexpr (HasName<E>) note(reader->template by_name<E>());
  });
  note(reader->run());
  note(reader->processes());
  note(reader->clocks());
  note(reader->clock_syncs());
  note(reader->tracks());
  note(reader->capacities());
  note(reader->knobs());
  note(reader->environment());
  note(reader->losses());
  note(reader->balance());
  note(reader->names());
  note(reader->metrics());
  note(reader->findings());
  return error;
}

}  // namespace dmprof::test
