#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/store/support.h"

namespace dmprof {
namespace {

using test::Folder;

// Records incompressible instants until the writer refuses; returns that error.
Error record_until_refused(const std::string& path, const WriterOptions& options) {
  auto writer = test::begin_recording(path, options);
  std::mt19937_64 random(3);
  for (int batch = 0; batch < 1000; ++batch) {
    std::vector<Event> events;
    for (int i = 0; i < 1000; ++i) {
      events.emplace_back(Instant{.track = 1, .time = batch * 1000 + i, .name = 1, .argument = random()});
    }
    Status status = writer->accept(events);
    if (status) status = writer->sync();
    if (status) continue;
    const Status again = writer->accept(events);
    EXPECT_FALSE(again && writer->sync()) << "a later call must not pretend";
    EXPECT_FALSE(writer->finish());
    return status.error();
  }
  return {ErrorKind::usage, "it never filled up"};
}

void expect_readable_prefix(const std::string& path) {
  auto reader = Reader::open(path);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_GT(reader->count<Instant>().value(), 0U);
  EXPECT_EQ(test::read_everything(path), "");
  EXPECT_NE(reader->run().value().end, RunEnd::finished);
}

TEST(FullDisk, is_one_clear_error_and_keeps_what_was_committed) {
  const Folder folder;
  const std::string path = folder.file("a.dmprof");
  const Error error = record_until_refused(path, {.chunk_rows = 1000, .max_file_bytes = 1 << 20});
  EXPECT_EQ(error.kind, ErrorKind::environment);
  EXPECT_THAT(error.message, testing::HasSubstr("no space left"));
  EXPECT_THAT(error.message, testing::HasSubstr(path));
  EXPECT_THAT(error.message, testing::Not(testing::HasSubstr("\n")));
  expect_readable_prefix(path);
}

TEST(FullDisk, by_the_operating_systems_limit_is_reported_the_same_way) {
  const Folder folder;
  const std::string path = folder.file("a.dmprof");
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(2);
    const Error error = record_until_refused(path, {.chunk_rows = 1000});
    _exit(error.kind == ErrorKind::environment ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  expect_readable_prefix(path);
}

}  // namespace
}  // namespace dmprof
