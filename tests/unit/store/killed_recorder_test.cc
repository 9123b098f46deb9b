// A recorder that is killed at a random moment leaves a recording that opens, and that lacks nothing but the open
// chunk.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "dmprof/store/annotations.h"
#include "tests/unit/store/support.h"

namespace dmprof {
namespace {

using test::Folder;

// Writes numbered instants until it is killed; says on `out` how many are committed.
[[noreturn]] void record_until_killed(const std::string& path, int out) {
  auto writer = test::begin_recording(path, {.chunk_rows = 500});
  std::uint64_t next = 0;
  for (;;) {
    std::vector<Event> events;
    for (int i = 0; i < 130; ++i) {
      events.emplace_back(Instant{.track = 1, .time = static_cast<TimeNs>(next), .name = 1, .argument = next});
      ++next;
    }
    if (!writer->accept(events)) _exit(1);
    if (next % 390 == 0) {
      if (!writer->sync()) _exit(1);
      if (write(out, &next, sizeof next) != sizeof next) _exit(1);
    }
  }
}

// Starts the recorder, kills it `after` microseconds past its first commit, returns the last count it reported.
std::uint64_t record_and_kill(const std::string& path, unsigned after) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    record_until_killed(path, ends[1]);
  }
  close(ends[1]);
  std::uint64_t committed = 0;
  std::uint64_t said = 0;
  EXPECT_EQ(read(ends[0], &said, sizeof said), static_cast<ssize_t>(sizeof said));
  committed = said;
  std::this_thread::sleep_for(std::chrono::microseconds(after));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  while (read(ends[0], &said, sizeof said) == static_cast<ssize_t>(sizeof said)) committed = said;
  close(ends[0]);
  return committed;
}

TEST(KilledRecorder, loses_at_most_the_open_chunk) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 24; ++round) {
    const Folder folder;
    const std::string path = folder.file("a.dmprof");
    const std::uint64_t committed = record_and_kill(path, static_cast<unsigned>(random() % 15000));
    auto reader = Reader::open(path);
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ(reader->run().value().end, RunEnd::interrupted);
    std::uint64_t next = 0;
    ASSERT_TRUE(reader->for_each<Instant>({}, [&](const Instant& event) { EXPECT_EQ(event.argument, next++); }));
    EXPECT_GE(next, committed) << "a committed event is missing in round " << round;
    EXPECT_EQ(test::read_everything(path), "");
  }
}

TEST(KilledRecorder, leaves_a_recording_that_opens_in_a_read_only_folder) {
  const Folder folder;
  const std::string path = folder.file("a.dmprof");
  const std::uint64_t committed = record_and_kill(path, 3000);
  std::filesystem::create_directory(folder.file("shelf"));
  for (const char* suffix : {"", "-wal"}) {
    const std::string copy = folder.file("shelf/a.dmprof") + suffix;
    std::filesystem::copy_file(path + suffix, copy);
    std::filesystem::permissions(copy, std::filesystem::perms(0444));
  }
  std::filesystem::permissions(folder.file("shelf"), std::filesystem::perms(0555));
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  const pid_t child = fork();
  if (child == 0) {
    // Permissions do not bind root.
    if (geteuid() == 0 && setuid(65534) != 0) _exit(3);
    auto reader = Reader::open(folder.file("shelf/a.dmprof"));
    if (!reader) _exit(1);
    _exit(reader->count<Instant>().value() >= committed ? 0 : 2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::filesystem::permissions(folder.file("shelf"), std::filesystem::perms(0755));
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(KilledRecorder, leaves_a_recording_that_annotations_mend) {
  const Folder folder;
  const std::string path = folder.file("a.dmprof");
  const std::uint64_t committed = record_and_kill(path, 3000);
  {
    auto notes = Annotations::open(path);
    ASSERT_TRUE(notes) << notes.error().message;
    const StoredMetric metric[] = {{"throughput", "v1", "{}"}};
    ASSERT_TRUE(notes->store_metrics(metric));
  }
  EXPECT_FALSE(std::filesystem::exists(path + "-wal"));
  auto reader = Reader::open(path);
  EXPECT_GE(reader->count<Instant>().value(), committed);
  EXPECT_EQ(reader->run().value().end, RunEnd::interrupted);
  EXPECT_EQ(reader->metrics().value().size(), 1U);
}

}  // namespace
}  // namespace dmprof
