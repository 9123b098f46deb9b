// The loop that joins a collector and a recording: it polls, commits at least every 200 ms, and knows when to stop.
// However it ends, the recording is finished, or what was committed until then is kept.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "collectors/collector.h"
#include "dmprof/base/error.h"
#include "dmprof/capture/child.h"
#include "dmprof/capture/environment.h"
#include "dmprof/capture/stop_signals.h"
#include "dmprof/event/sink.h"
#include "dmprof/store/writer.h"

namespace dmprof::capture {

struct Progress {
  double seconds = 0;            // since the collector was started
  double events_per_second = 0;  // since the last progress
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  std::uint64_t lost = 0;  // known so far; the last ones are known when the collector has stopped
};

struct RecordOptions {
  std::optional<std::chrono::nanoseconds> duration;  // no limit when empty
  std::chrono::milliseconds commit_every{200};
  std::chrono::milliseconds child_grace{3000};    // time the command gets to end after a stop signal
  std::function<void(const Progress&)> progress;  // five times a second; may be empty
  // Called when the recording has failed while the command runs, which then goes on unrecorded; may be empty.
  std::function<void(const Error&)> unrecorded;
};

enum class StopReason { duration, command_ended, targets_ended, signal, store_failed, collector_failed };

struct Outcome {
  StopReason reason = StopReason::targets_ended;
  std::string text;  // the same for people: "the command ended", "interrupted (SIGINT)"
  Progress totals;
  std::map<std::string, std::uint64_t> lost_by_cause;
  std::uint64_t events_committed = 0;  // what the recording holds; less than totals.events after a failure
  std::uint32_t processes = 0;         // that were recorded
  std::optional<ChildEnd> child;       // how the command ended; empty without a command, or when it still runs
  std::optional<Error> failure;  // of the store (disk full) or the collector; the recording holds what came before
};

// Records until a reason to stop comes. `child` may be null. Errors: what the collector says when it cannot start (then
// the recording holds no event); later failures are in the outcome, since there is a recording. Either way a command is
// never left behind: after a failure its end is awaited, stop signals are passed on to it, and only a second one ends
// the wait.
Result<Outcome> record(Collector& collector, Writer& writer, StopSignals& signals, Child* child,
                       const RecordOptions& options);

}  // namespace dmprof::capture
