// Where everything that was observed goes. Collectors and decoders call it, the store implements it; the command line
// connects the two. One thread at a time calls a sink.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "dmprof/base/error.h"
#include "dmprof/event/event.h"

namespace dmprof {

enum class ClockKind : std::uint8_t { monotonic = 0, virtual_time = 1, device = 2 };

struct ClockDomain {
  std::string name;  // "host", "simcard"
  ClockKind kind = ClockKind::monotonic;
  std::string quality;  // "invariant TSC 2.445 GHz", "CLOCK_MONOTONIC", ...
};

// One simultaneous reading: domain time, CLOCK_MONOTONIC, CLOCK_REALTIME. Never taken for a virtual domain.
struct ClockSync {
  std::uint32_t domain = 0;
  TimeNs domain_time = 0;
  TimeNs monotonic = 0;
  TimeNs realtime = 0;
  TimeNs uncertainty = 0;
};

struct Process {
  std::int64_t pid = 0;
  std::int64_t parent_pid = 0;
  std::string name;
  std::string command;
};

struct Track {
  std::uint32_t process = 0;  // id returned by add_process
  std::int64_t thread_id = 0;
  std::uint32_t clock = 0;  // id returned by add_clock
  std::string name;
};

// A setting of the engine that diagnose, what-if and tune may turn.
struct Knob {
  std::uint32_t process = 0;
  std::string name;  // "lookahead"
  std::string value;
  std::string type;    // "integer", "real", "choice", "path"
  std::string range;   // "1..16", or "0|1|2"
  std::string how;     // "environment", "flag", "file"
  std::string handle;  // DM_LOOKAHEAD, --lookahead, or the file's path
  std::string unit;
  TimeNs since = 0;  // CLOCK_MONOTONIC, also where the engine's tracks are on another clock; 0 = from the start
};

// A tier of memory, a link, or a compute unit. Unknown figures are 0.
struct Capacity {
  std::uint32_t process = 0;
  std::string name;        // "l2", "dram", "backing", "compute"
  std::string kind;        // "tier", "link", "compute", "speculation_engine"
  std::uint32_t rank = 0;  // tiers: 0 is the fastest
  bool managed = false;    // blocks are cached in it by a policy
  std::uint64_t size_bytes = 0;
  double datasheet_bandwidth = 0;  // B/s
  double measured_bandwidth = 0;   // B/s, by calibration or by construction
  double peak_flops = 0;           // FLOP/s
  std::uint32_t units = 0;         // engines, modules, channels
};

// Losses are data: how many events of a track did not reach the recording, and why.
struct Loss {
  TrackId track = 0;
  std::string cause;  // "ring_full", "no_ring_memory", "decode_error", "recorder_killed"
  std::uint64_t events = 0;
};

class EventSink {
 public:
  virtual ~EventSink() = default;

  virtual NameId intern(std::string_view text) = 0;  // the same text gives the same id
  virtual Result<std::uint32_t> add_process(const Process&) = 0;
  virtual Result<std::uint32_t> add_clock(const ClockDomain&) = 0;
  virtual Result<TrackId> add_track(const Track&) = 0;
  virtual Result<TierId> add_capacity(const Capacity&) = 0;  // the same process and name: updated, same id
  virtual Status add_knob(const Knob&) = 0;                  // a later `since` records a change
  virtual Status add_clock_sync(const ClockSync&) = 0;
  virtual Status add_loss(const Loss&) = 0;  // adds to what is stored
  virtual Status add_emitted(TrackId track,
                             std::uint64_t events) = 0;  // emitter's own count; recorded = emitted - lost
  virtual Status set_environment(std::string_view key, std::string_view value) = 0;

  virtual Status accept(std::span<const Event> events) = 0;
  virtual Status flush() = 0;  // commit what is pending, at least every 200 ms while events are slow
};

}  // namespace dmprof
