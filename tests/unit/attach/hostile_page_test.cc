#include <fcntl.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <random>
#include <vector>

#include "tests/unit/attach/child_engine.h"

namespace dmprof::attach {
namespace {

class HostilePage : public AttachTest {
 protected:
  HostilePage() { EXPECT_EQ(::mkdir((runtime + "/dmprof").c_str(), 0700), 0); }
  void write_page(std::int64_t pid, const std::string& bytes, mode_t mode = 0600) const {
    std::ofstream(page_path(pid), std::ios::binary) << bytes;
    ::chmod(page_path(pid).c_str(), mode);
  }
};

TEST_F(HostilePage, refuses_a_page_that_is_garbage_empty_or_of_another_version) {
  const std::int64_t pid = ::getpid();
  for (const std::string& bytes : {std::string(), std::string(100, 'x'), std::string(sizeof(dmprof_page), '\xff')}) {
    write_page(pid, bytes);
    const auto page = find_engine(pid);
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().kind, ErrorKind::bad_input);
    EXPECT_NE(page.error().message.find("not a control page"), std::string::npos);
  }
  std::string newer(sizeof(dmprof_page), '\0');
  dmprof_page_header header{};
  header.magic = DMPROF_WIRE_MAGIC;
  header.version = DMPROF_WIRE_VERSION + 1;
  std::memcpy(newer.data(), &header, sizeof header);
  write_page(pid, newer);
  const auto page = find_engine(pid);
  ASSERT_FALSE(page);
  EXPECT_NE(page.error().message.find("wire version 2"), std::string::npos);
}

TEST_F(HostilePage, refuses_a_page_that_others_may_touch_a_link_a_fifo_and_a_directory) {
  const std::int64_t pid = ::getpid();
  write_page(pid, std::string(sizeof(dmprof_page), '\0'), 0644);
  EXPECT_FALSE(find_engine(pid));
  std::filesystem::remove(page_path(pid));
  std::filesystem::create_symlink("/etc/passwd", page_path(pid));
  EXPECT_FALSE(find_engine(pid));
  std::filesystem::remove(page_path(pid));
  ASSERT_EQ(::mkfifo(page_path(pid).c_str(), 0600), 0);
  EXPECT_FALSE(find_engine(pid));
  std::filesystem::remove(page_path(pid));
  std::filesystem::create_directory(page_path(pid));
  EXPECT_FALSE(find_engine(pid));
  EXPECT_TRUE(list_engines());
}

TEST_F(HostilePage, does_not_look_into_a_run_directory_that_lets_others_in) {
  ChildEngine engine([](const ChildEngine::Child& child) {
    child.ready();
    child.wait();
  });
  ASSERT_TRUE(engine.wait_ready());
  ASSERT_TRUE(find_engine(engine.pid()));
  ::chmod((runtime + "/dmprof").c_str(), 0755);
  EXPECT_FALSE(find_engine(engine.pid()));
}

// The engine scribbles over its own page and ring while it is recorded.
TEST_F(HostilePage, survives_an_engine_that_scribbles_over_its_page) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    ChildEngine engine([seed](const ChildEngine::Child& child) {
      child.ready();
      child.wait();
      const std::string path =
          std::string(::getenv("XDG_RUNTIME_DIR")) + "/dmprof/" + std::to_string(::getpid()) + ".ctl";
      const int fd = ::open(path.c_str(), O_RDWR);
      std::mt19937_64 random(seed);
      dmprof_track* track = dmprof_thread_track();
      for (int i = 0; i < 400; ++i) {
        const std::uint64_t noise[4] = {random(), random(), random(), random()};
        // Not over `active`: the engine itself must go on.
        const off_t offset =
            448 + static_cast<off_t>(random() % (i % 2 == 0 ? 64 - sizeof noise : sizeof(dmprof_page) - 2048));
        if (offset >= 480 && offset < 1024) continue;
        (void)!::pwrite(fd, noise, sizeof noise, offset);
        dmprof_slot* slots = track->producer->slots;
        if (slots != nullptr) std::memcpy(&slots[random() % 64], noise, sizeof noise);
        dmprof_instant(track, static_cast<std::uint32_t>(random() % 5000), 1);
        if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      ::_exit(0);
    });
    ASSERT_TRUE(engine.wait_ready());
    test::VectorSink sink;
    AttachCollector collector(options_for(engine.pid(), 4096));
    ASSERT_TRUE(collector.start(sink));
    engine.go();
    poll_to_the_end(collector);
    expect_balance(sink);
  }
}

// Tracks taken in before the count was lowered keep their accounts, whether or not it is raised again.
TEST_F(HostilePage, keeps_its_accounts_when_the_engine_lowers_its_track_count) {
  for (const bool raised_again : {true, false}) {
    ChildEngine engine([raised_again](const ChildEngine::Child& child) {
      const std::string path =
          std::string(::getenv("XDG_RUNTIME_DIR")) + "/dmprof/" + std::to_string(::getpid()) + ".ctl";
      const int fd = ::open(path.c_str(), O_RDWR);
      const auto set_count = [fd](std::uint32_t count) {
        (void)!::pwrite(fd, &count, sizeof count, offsetof(dmprof_page_header, track_count));
      };
      std::vector<dmprof_track*> tracks;
      for (const char* name : {"first", "second", "third"})
        tracks.push_back(dmprof_track_create(name, 0, DMPROF_TRACK_OWN_RING));
      std::uint32_t honest = 0;
      (void)!::pread(fd, &honest, sizeof honest, offsetof(dmprof_page_header, track_count));
      const auto emit = [&tracks] {
        for (dmprof_track* track : tracks)
          for (std::uint64_t i = 0; i < 10; ++i) dmprof_instant(track, 0, i);
      };
      child.ready();
      child.wait();
      emit();
      child.ready();
      child.wait();
      for (dmprof_track* track : {tracks[1], tracks[2]}) dmprof_track_end(track);
      tracks.resize(1);
      set_count(1);
      emit();
      child.ready();
      child.wait();
      if (raised_again) set_count(honest);
    });
    ASSERT_TRUE(engine.wait_ready());
    test::VectorSink sink;
    AttachCollector collector(options_for(engine.pid(), 4096));
    ASSERT_TRUE(collector.start(sink));
    engine.go();
    ASSERT_TRUE(engine.wait_ready());
    poll_until(collector, [&] { return sink.of<Instant>().size() == 30; });
    engine.go();
    ASSERT_TRUE(engine.wait_ready());
    poll_until(collector, [&] { return sink.of<Instant>().size() == 40; });
    engine.go();
    poll_to_the_end(collector);
    EXPECT_EQ(sink.of<Instant>().size(), 40u);
    EXPECT_TRUE(collector.problems().empty());
    expect_balance(sink);
  }
}

TEST_F(HostilePage, survives_an_engine_that_truncates_its_page) {
  ChildEngine engine([](const ChildEngine::Child& child) {
    child.ready();
    child.wait();
    dmprof_instant(dmprof_thread_track(), 0, 1);
    const std::string path =
        std::string(::getenv("XDG_RUNTIME_DIR")) + "/dmprof/" + std::to_string(::getpid()) + ".ctl";
    (void)!::truncate(path.c_str(), 100);
    child.ready();
    ::_exit(0);
  });
  ASSERT_TRUE(engine.wait_ready());
  test::VectorSink sink;
  AttachCollector collector(options_for(engine.pid(), 4096));
  ASSERT_TRUE(collector.start(sink));
  engine.go();
  ASSERT_TRUE(engine.wait_ready());
  poll_to_the_end(collector);
  ASSERT_EQ(collector.problems().size(), 1u);
  EXPECT_NE(collector.problems()[0].find("cut short"), std::string::npos);
  expect_balance(sink);
}

TEST_F(HostilePage, stops_reading_a_ring_whose_head_is_impossible) {
  ChildEngine engine([](const ChildEngine::Child& child) {
    child.ready();
    child.wait();
    dmprof_track* track = dmprof_thread_track();
    dmprof_instant(track, 0, 1);
    __atomic_store_n(&track->producer->ring->head, ~0ull / 2, __ATOMIC_RELEASE);
  });
  ASSERT_TRUE(engine.wait_ready());
  test::VectorSink sink;
  AttachCollector collector(options_for(engine.pid(), 4096));
  ASSERT_TRUE(collector.start(sink));
  engine.go();
  poll_to_the_end(collector);
  EXPECT_EQ(sink.events.size(), 0u);
  expect_balance(sink);
}

}  // namespace
}  // namespace dmprof::attach
