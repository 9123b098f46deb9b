// dmprof run: start a command and record it and its descendants.
#include <fmt/format.h>

#include "dmprof/cli/commands.h"
#include "dmprof/cli/metric_answer.h"
#include "dmprof/cli/recording_session.h"

namespace dmprof::cli {

namespace {

struct Flags {
  std::string output;
  bool force = false;
  bool cupti = false;
  bool pmu = false;
};

Result<ExitStatus> run_command(const Flags& flags, const Shared& shared) {
  if (shared.command_line.empty() || shared.command_line.front().empty())
    return fail(ErrorKind::usage, "no command to record; type it after two dashes: dmprof run -- CMD [ARGS…]");
  if (flags.cupti)
    return fail(ErrorKind::environment,
                "--cupti: this build has no CUPTI collector; leave the flag out to record the SDK's events");
  if (flags.pmu)
    return fail(ErrorKind::environment,
                "--pmu: this build has no hardware-counter collector; leave the flag out to record the SDK's events");
  DMPROF_TRY(check_question(shared.question));
  SessionRequest request;
  request.command = shared.command_line;
  request.output = flags.output;
  request.force = flags.force;
  request.stem = request.command.front();
  return record_and_conclude(request, shared);
}

}  // namespace

DeclaredCommand declare_run(const Syntax& root, const std::shared_ptr<Shared>& shared) {
  const Syntax app = root.command("run", "Start a command and record it: dmprof run [-o FILE] -- CMD [ARGS…]");
  app.footer(
      "The command's output and input are its own. dmprof exits with 0 when the recording succeeded, whatever the "
      "command's\n"
      "status was, and says that status. Ctrl-C ends the command and finishes the recording.");
  auto flags = std::make_shared<Flags>();
  app.text("-o,--output", flags->output, "FILE", "Recording to write; a new one in the data directory when left out");
  app.flag("--force", flags->force, "Let -o replace a file that is no recording");
  app.flag("--json", shared->json, "Print the summary as JSON on standard output, after the command's own output");
  app.flag("--cupti", flags->cupti, "Also record CUDA through CUPTI (not in this build)");
  app.flag("--pmu", flags->pmu, "Also record hardware counters (not in this build)");
  return {app, [flags, shared] { return run_command(*flags, *shared); }};
}

}  // namespace dmprof::cli
