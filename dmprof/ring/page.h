// The collector's view of one engine's control page. The page is read with pread and written with pwrite, never mapped:
// a hostile or damaged engine may truncate or scribble over it at any time and must not take the collector down. Every
// count, offset and string that comes out of here has been checked. One thread at a time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/base/process.h"
#include "dmprof/sdk/abi.h"

namespace dmprof::ring {

struct PageIdentity {
  std::int64_t pid = 0;
  std::int64_t parent_pid = 0;
  std::uint64_t start_time = 0;
  bool tsc = false;  // host clock: TSC ticks, else CLOCK_MONOTONIC nanoseconds
  bool lossless = false;
  std::string engine;
  std::string engine_version;
  std::string session;  // DMPROF_CONTROL of its environment
};

struct PageCounts {
  std::uint32_t names = 0, knobs = 0, capacities = 0, clocks = 0, tracks = 0;
  std::uint32_t table_version = 0;
  std::uint64_t untracked = 0;
};

struct PageKnob {
  std::uint64_t since = 0;  // host clock reading, 0 = never changed
  std::string name, value, type, range, how, handle, unit;
};

struct PageCapacity {
  std::uint32_t rank = 0, managed = 0, units = 0;
  std::uint64_t size_bytes = 0;
  double datasheet_bandwidth = 0, measured_bandwidth = 0, peak_flops = 0;
  std::string name, kind;
};

struct PageClock {
  std::uint32_t kind = 0;
  std::string name;
};

class ControlPage {
 public:
  // Opens `name` inside an already checked directory. bad_input: not a page of this version; environment: cannot be
  // opened.
  static Result<ControlPage> open(int directory, const std::string& name, const std::string& path);

  ControlPage(ControlPage&& other) noexcept;
  ControlPage& operator=(ControlPage&& other) noexcept;
  ~ControlPage();

  const PageIdentity& identity() const { return identity_; }
  const std::string& path() const { return path_; }
  // Whether the process that made the page still runs, and still runs the program that made it.
  Life life() const;
  bool alive() const { return life() != Life::ended; }
  // Whether the page is still the one its path names (a page withdrawn by its engine is not).
  bool in_place() const;
  // Whether its path names another page by now: the engine began anew. Not so when the path names nothing.
  bool replaced() const;

  // From here on every fault of the page itself is bad_input, reading or writing: it is this one engine's.
  Result<PageCounts> counts() const;
  // Names [from, to). A name that points outside the heap comes back as "?".
  Result<std::vector<std::string>> names(std::uint32_t from, std::uint32_t to) const;
  Result<std::vector<PageClock>> clocks(std::uint32_t count) const;
  // Entries that are being written at this moment come back empty; the engine finishes them soon.
  Result<std::optional<PageKnob>> knob(std::uint32_t index) const;
  Result<std::optional<PageCapacity>> capacity(std::uint32_t index) const;
  // Raw entries; the caller checks each field it uses.
  Status tracks(std::uint32_t count, std::vector<dmprof_track_entry>& out) const;
  // Hands a settled track's entry back to the engine.
  Status free_track(std::uint32_t index) const;

  // Claims the engine for this collector. environment: another collector (named in the message) has it.
  Status lock();
  // The generation the next attachment must carry, in the arena and in the announcement.
  std::uint32_t next_generation() const;
  Status announce(std::uint32_t generation, const std::string& arena_path, std::uint64_t arena_bytes) const;
  Status withdraw() const;

 private:
  ControlPage() = default;
  Status read(void* to, std::size_t bytes, std::size_t offset) const;
  Status write(const void* from, std::size_t bytes, std::size_t offset) const;

  int fd_ = -1;
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  PageIdentity identity_;
  std::uint64_t own_start_ = 0;  // of this process, for the announcement
};

}  // namespace dmprof::ring
