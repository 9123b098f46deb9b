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
#include "dmprof/capture/recorder.h"
#include "dmprof/cli/commands.h"
#include "dmprof/cli/exit_status.h"

namespace dmprof::cli {

struct SessionRequest {
  std::filesystem::path output;
  std::vector<std::string> command;  // to start; or else
  std::vector<std::int64_t> pids;    // to attach to
  std::optional<std::chrono::nanoseconds> duration;
  std::chrono::milliseconds commit_every{200};
};

// Records. On success the file is a finished recording with at least one process in it; an error leaves no file behind,
// except when the store failed half-way: then what was recorded is kept and the outcome's failure says so.
Result<capture::Outcome> record_session(const SessionRequest& request);

// Records into `output`, or into a new file of the data directory that bears `name` when it is empty; then concludes.
Result<ExitStatus> record_and_conclude(SessionRequest request, const std::string& output, const std::string& name,
                                       const Shared& shared);

// Prints the summary (or with `json` an object on standard output) and turns the outcome into an exit status.
Result<ExitStatus> conclude(const SessionRequest& request, const capture::Outcome& outcome, const Shared& shared);

}  // namespace dmprof::cli
