// What `run`, `attach` and `--metric --live` share: a recording is made, finished, given its metrics and findings, and
// summarised on standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/base/exit_status.h"
#include "dmprof/capture/recorder.h"
#include "dmprof/cli/commands.h"

namespace dmprof::cli {

struct SessionRequest {
  std::string output;                // as typed after -o; empty: a new file in the data directory,
  std::string stem;                  // with this in its name
  bool force = false;                // `output` may hold something that is no recording
  std::vector<std::string> command;  // to start; or else
  std::vector<std::int64_t> pids;    // to attach to
  std::optional<std::chrono::nanoseconds> duration;
  std::chrono::milliseconds commit_every{200};
  bool quiet = false;  // no progress, no notes: one of many runs
};

struct Session {
  std::filesystem::path file;
  capture::Outcome outcome;
};

// Records. On success the file is a finished recording with at least one process in it; an error leaves no file behind,
// except when the store failed half-way: then what was committed is kept and the outcome's failure says so.
Result<Session> record_session(const SessionRequest& request);

// Records, computes and stores metrics and findings, prints the summary (or with `json` an object on standard output)
// and turns the outcome into an exit status.
Result<ExitStatus> record_and_conclude(const SessionRequest& request, const Shared& shared);

}  // namespace dmprof::cli
