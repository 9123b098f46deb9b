// Helpers of the attach tests: engines in child processes, and a collector with a sink that keeps everything.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "collectors/attach/attach_collector.h"
#include "dmprof/sdk/dmprof.h"
#include "tests/mocks/vector_sink.h"

namespace dmprof::attach {

// A run directory of the test's own.
class AttachTest : public testing::Test {
 protected:
  AttachTest() {
    char pattern[] = "/tmp/dmprof-test-XXXXXX";
    runtime = ::mkdtemp(pattern);
    ::setenv("XDG_RUNTIME_DIR", runtime.c_str(), 1);
    ::unsetenv("DMPROF_CONTROL");
  }
  ~AttachTest() override { std::filesystem::remove_all(runtime); }
  std::string page_path(std::int64_t pid) const { return runtime + "/dmprof/" + std::to_string(pid) + ".ctl"; }

  std::string runtime;
};

// Forks; the child runs `body`, then exits. The two ends talk through one byte at a time.
class ChildEngine {
 public:
  struct Pipe {
    int ends[2];
    void tell() const { (void)!::write(ends[1], "x", 1); }
    bool wait() const {
      char byte = 0;
      return ::read(ends[0], &byte, 1) == 1;
    }
  };
  struct Child {
    Pipe to_child, to_parent;
    void ready() const { to_parent.tell(); }      // child: I am there
    void wait() const { (void)to_child.wait(); }  // child: until the test says go()
    void report(std::uint64_t number) const { (void)!::write(to_parent.ends[1], &number, sizeof number); }
  };

  explicit ChildEngine(const std::function<void(const Child&)>& body, const char* name = "child") {
    (void)!::pipe(link_.to_child.ends);
    (void)!::pipe(link_.to_parent.ends);
    pid_ = ::fork();
    if (pid_ != 0) {
      ::close(link_.to_parent.ends[1]);
      return;
    }
    ::close(link_.to_child.ends[1]);
    const dmprof_options options = {name, "1.2", 0};
    if (dmprof_init(&options) != 0) ::_exit(3);
    body(link_);
    dmprof_shutdown();
    ::_exit(0);
  }
  ~ChildEngine() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(link_.to_child.ends[1]);
  }
  ChildEngine(const ChildEngine&) = delete;
  ChildEngine& operator=(const ChildEngine&) = delete;

  pid_t pid() const { return pid_; }
  bool wait_ready() const { return link_.to_parent.wait(); }
  void go() const { link_.to_child.tell(); }
  std::uint64_t reported() const {
    std::uint64_t number = ~0ull;
    (void)!::read(link_.to_parent.ends[0], &number, sizeof number);
    return number;
  }
  // Waits for the end; the exit status, or minus the signal.
  int join() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  // Whether it ends by itself, and well.
  bool ends_within_seconds(int seconds) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    int status = 0;
    while (::waitpid(pid_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > limit) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    pid_ = -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  void kill() const { ::kill(pid_, SIGKILL); }

 private:
  Child link_{};
  pid_t pid_ = -1;
};

// Polls until `done` says so, the collector is finished, or ten seconds have gone.
inline void poll_until(AttachCollector& collector, const std::function<bool()>& done) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!done() && std::chrono::steady_clock::now() < limit) {
    const auto result = collector.poll();
    ASSERT_TRUE(result) << result.error().message;
    if (result->finished) return;
    if (result->events == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  ASSERT_TRUE(done()) << "waited for ten seconds";
}

inline void poll_to_the_end(AttachCollector& collector) {
  bool finished = false;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!finished && std::chrono::steady_clock::now() < limit) {
    const auto result = collector.poll();
    ASSERT_TRUE(result) << result.error().message;
    finished = result->finished;
    if (result->events == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  ASSERT_TRUE(finished) << "waited for ten seconds";
  ASSERT_TRUE(collector.stop());
}

// emitted = recorded + lost, for every track.
inline void expect_balance(const test::VectorSink& sink) {
  for (TrackId track = 1; track <= sink.tracks.size(); ++track) {
    EXPECT_EQ(sink.emitted_by(track), sink.recorded(track) + sink.lost(track)) << sink.tracks[track - 1].name;
  }
}

inline AttachOptions options_for(pid_t pid, std::uint64_t ring_bytes = 64 << 10) {
  AttachOptions options;
  options.pids = {pid};
  options.ring_bytes = ring_bytes;
  options.memory_cap = 16 << 20;
  return options;
}

}  // namespace dmprof::attach
