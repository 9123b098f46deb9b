// dmprof attach: record engines that run already.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "dmprof/cli/commands.h"
#include "dmprof/cli/metric_answer.h"
#include "dmprof/cli/recording_session.h"

namespace dmprof::cli {

namespace {

constexpr double longest_seconds = 365.0 * 24 * 3600;
constexpr double endless = std::numeric_limits<double>::infinity();  // until Ctrl-C or the end of the processes

struct Flags {
  std::vector<std::int64_t> pids;
  std::string output;
  bool force = false;
  double duration_s = endless;
  double interval_s = 0.2;
};

Result<ExitStatus> attach_command(const Flags& flags, const Shared& shared) {
  if (flags.pids.empty())
    return fail(ErrorKind::usage, "whom to attach to: dmprof attach --pid PID; dmprof doctor lists running engines");
  for (const std::int64_t pid : flags.pids) {
    if (pid <= 0) return fail(ErrorKind::usage, fmt::format("--pid: {} is no process number", pid));
  }
  if (!(flags.interval_s >= 0.01 && flags.interval_s <= 3600))
    return fail(ErrorKind::usage, "--interval: between 0.01 and 3600 seconds");
  const bool limited = flags.duration_s != endless;
  if (limited && !(flags.duration_s > 0 && flags.duration_s <= longest_seconds))
    return fail(ErrorKind::usage, "--duration: a positive number of seconds, at most a year");
  DMPROF_TRY(check_question(shared.question));
  SessionRequest request;
  request.pids = flags.pids;
  request.commit_every = std::chrono::milliseconds(std::lround(flags.interval_s * 1000));
  if (limited) request.duration = std::chrono::nanoseconds(std::llround(flags.duration_s * 1e9));
  request.output = flags.output;
  request.force = flags.force;
  request.stem = fmt::format("pid-{}", flags.pids.front());
  return record_and_conclude(request, shared);
}

}  // namespace

DeclaredCommand declare_attach(const Syntax& root, const std::shared_ptr<Shared>& shared) {
  const Syntax app = root.command("attach", "Record running engines: dmprof attach --pid PID…");
  app.footer("Without --duration it records until Ctrl-C or until every process has ended.");
  auto flags = std::make_shared<Flags>();
  app.integers("--pid", flags->pids, "PID…", "Process to record; several may be given");
  app.number("--duration", flags->duration_s, "S", "Seconds to record");
  app.number("--interval", flags->interval_s, "S",
             "Seconds between commits, which is what a live view lags and a killed recorder loses (0.2)");
  app.text("-o,--output", flags->output, "FILE", "Recording to write; a new one in the data directory when left out");
  app.flag("--force", flags->force, "Let -o replace a file that is no recording");
  app.flag("--json", shared->json, "Print the summary as JSON");
  return {app, [flags, shared] { return attach_command(*flags, *shared); }};
}

}  // namespace dmprof::cli
