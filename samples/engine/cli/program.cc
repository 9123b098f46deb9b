#include "samples/engine/cli/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "dmprof/base/exit_status.h"
#include "samples/engine/cli/output.h"
#include "samples/engine/cli/summary.h"
#include "samples/engine/runtime/engine.h"
#include "samples/engine/scheduler/prompts.h"

namespace dmengine {
namespace {

volatile std::sig_atomic_t stop_signal = 0;

// The first signal asks for an orderly end; the handler then stands back, so that a second one ends the process at
// once.
void on_signal(int signal) { stop_signal = signal; }

void listen_to_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int report_error(const Error& error) { return dmprof::report_error("dm-engine", error); }

dmprof::Result<std::vector<Request>> read_requests(const CommandLine& line) {
  if (line.source == PromptSource::requests) return read_prompts(line.prompt, Arrivals::ignored);
  if (line.source == PromptSource::trace) return read_prompts(line.prompt, Arrivals::respected);
  Request request;
  request.id = "1";
  request.prompt = line.prompt;
  if (line.source == PromptSource::file) {
    auto text = read_text(line.prompt);
    if (!text) return tl::unexpected(text.error());
    request.prompt = std::move(*text);
  }
  return std::vector<Request>{std::move(request)};
}

Status run(const CommandLine& line) {
  auto requests = read_requests(line);
  if (!requests) return tl::unexpected(requests.error());
  Recorder recorder;
  auto engine = Engine::load(line.settings, recorder);
  if (!engine) return tl::unexpected(engine.error());
  RunReport report;
  if (line.json) {
    Status status;
    {
      ProgressOutput progress(isatty(STDERR_FILENO) == 1, requests->size());
      status = (*engine)->run(*requests, progress, stop_signal, report);
    }
    if (!report.requests.empty()) {
      DMPROF_TRY(write_all(stdout, summarize(line, *requests, report, recorder)));
    }
    return status;
  }
  TextOutput text(stdout, requests->size());
  DMPROF_TRY((*engine)->run(*requests, text, stop_signal, report));
  return text.finish();
}

}  // namespace

int run_program(std::span<const std::string> args, const Environment& environment) {
  auto line = parse_command_line(args, environment);
  if (!line) return report_error(line.error());
  if (!line->answer.empty()) {
    const Status written = write_all(stdout, line->answer);
    return written ? 0 : report_error(written.error());
  }
  for (const std::string& warning : line->warnings) fmt::print(stderr, "dm-engine: warning: {}\n", warning);
  listen_to_signals();
  const Status status = run(*line);
  if (!status) return report_error(status.error());
  return stop_signal == 0 ? 0 : 128 + stop_signal;
}

}  // namespace dmengine
