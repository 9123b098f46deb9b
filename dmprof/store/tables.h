// Rows of the plain tables of a recording, as Reader returns them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "dmprof/event/sink.h"

namespace dmprof {

// Half open [begin, end), ns. The default is everything.
struct TimeRange {
  TimeNs begin = std::numeric_limits<TimeNs>::min();
  TimeNs end = std::numeric_limits<TimeNs>::max();

  // Does something that runs from `first` to `last` (the same for a point) touch the range?
  constexpr bool overlaps(TimeNs first, TimeNs last) const {
    return (first < end || end == std::numeric_limits<TimeNs>::max()) &&
           (last > begin || (first == last && last >= begin));
  }
  constexpr bool empty() const { return begin >= end; }
};

struct ProcessRow : Process {
  std::uint32_t id = 0;
};

struct ClockRow : ClockDomain {
  std::uint32_t id = 0;
};

struct TrackRow : Track {
  TrackId id = 0;
};

struct CapacityRow : Capacity {
  TierId id = 0;
};

// One fact about the machine, the engine or the run: key and value.
struct Setting {
  std::string key;
  std::string value;
};

enum class RunEnd { finished, recording, interrupted };  // recording: the recorder is alive; interrupted: it was killed

struct RunInfo {
  RunEnd end = RunEnd::interrupted;
  std::string reason;              // why it ended; empty unless finished
  TimeNs started = 0;              // CLOCK_REALTIME, ns since 1970
  std::optional<TimeNs> finished;  // CLOCK_REALTIME, ns; none while recording or when interrupted
  std::string dmprof_version;      // that wrote it
  int format_version = 0;          // PRAGMA user_version
};

// Count, duration sum (0 for events without duration) and time bounds of one name.
struct NameSummary {
  NameId name = 0;
  std::uint64_t count = 0;
  TimeNs duration = 0;
  TimeNs first = 0;
  TimeNs last = 0;
};

struct ChunkInfo {
  std::int64_t id = 0;
  std::uint64_t rows = 0;
  TimeNs min_time = 0;  // earliest start
  TimeNs max_time = 0;  // latest end
};

// recorded = emitted - lost on a sound recording; `emitted` is absent when the emitter never reported (killed, not our
// SDK).
struct TrackBalance {
  TrackId track = 0;
  std::optional<std::uint64_t> emitted;
  std::uint64_t lost = 0;
  std::uint64_t recorded = 0;

  // emitted - lost - recorded: 0 when every event is accounted for, none when it cannot be known.
  std::optional<std::int64_t> unaccounted() const {
    if (!emitted) return std::nullopt;
    return static_cast<std::int64_t>(*emitted - lost - recorded);
  }
};

// A metric computed at the end of a recording. `definition` is a hash of how it was computed: another hash, compute it
// again.
struct StoredMetric {
  std::string name;
  std::string definition;
  std::string json;  // the metric's object, as `--metric --json` prints it
};

struct StoredFinding {
  std::string rule;
  std::string severity;  // "error", "warning", "info"
  std::string json;
};

}  // namespace dmprof
