#include "dmprof/cli/recording_session.h"
#include "dmprof/base/shell.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>

#include "collectors/attach/attach_collector.h"
#include "collectors/attach/engines.h"
#include "dmprof/capture/environment.h"
#include "dmprof/cli/calibration.h"
#include "dmprof/cli/coverage.h"
#include "dmprof/cli/diagnosis.h"
#include "dmprof/cli/evaluation.h"
#include "dmprof/cli/event_cost.h"
#include "dmprof/cli/metric_answer.h"
#include "dmprof/cli/output.h"
#include "dmprof/cli/output_file.h"
#include "dmprof/cli/terminal.h"
#include "dmprof/report/format.h"
#include "dmprof/report/metric_json.h"
#include "dmprof/report/metric_text.h"
#include "dmprof/ring/directory.h"
#include "dmprof/sdk/abi.h"
#include "dmprof/store/reader.h"

namespace dmprof::cli {

namespace {

// The figures a person wants to see first, when the recording has them.
constexpr std::array<std::string_view, 6> summary_metrics = {
    "throughput",        "tokens_per_step",       "speculation_accuracy",
    "prefetch_hit_rate", "bandwidth_utilization", "events_lost"};

std::string losses_text(const capture::Outcome& outcome) {
  if (outcome.totals.lost == 0) return "none lost";
  std::string causes;
  for (const auto& [cause, events] : outcome.lost_by_cause)
    causes += fmt::format("{}{} {}", causes.empty() ? "" : ", ", report::thousands(events), cause);
  return fmt::format("{} lost ({})", report::thousands(outcome.totals.lost), report::printable(causes));
}

std::string progress_text(const capture::Progress& progress) {
  return fmt::format(
      "recording {:.1f} s · {} events · {} events/s · {} · {}", progress.seconds, report::thousands(progress.events),
      report::thousands(static_cast<std::uint64_t>(progress.events_per_second)), report::bytes(progress.bytes),
      progress.lost == 0 ? "none lost" : report::thousands(progress.lost) + " lost");
}

Status store_facts(EventSink& sink, const SessionRequest& request, const Result<double>& event_cost) {
  capture::Environment environment = capture::machine_environment();
  const std::vector<pid_t> pids(request.pids.begin(), request.pids.end());
  environment.merge(request.command.empty() ? capture::process_environment(pids)
                                            : capture::command_environment(request.command));
  if (event_cost) environment["recording.event_ns"] = fmt::format("{:.2f}", *event_cost);
  std::string reason;
  const auto calibration = usable_calibration(reason);
  if (!calibration) environment["calibration.missing"] = reason;
  DMPROF_TRY(capture::store_environment(sink, environment));
  return calibration ? store_calibration(sink, *calibration, calibration_options(1).memory_bytes) : Status{};
}

// Engines publish a page in the run directory; where it does not fit, dmprof_init() fails and nobody can be recorded.
std::string cramped_run_directory() {
  for (const std::string& path : ring::engine_directories()) {
    struct statvfs status {};
    if (::statvfs(path.c_str(), &status) != 0) continue;
    const std::uint64_t free = std::uint64_t{status.f_bavail} * status.f_frsize;
    if (free >= sizeof(dmprof_page)) return "";
    return fmt::format(
        "the run directory {} has {} left and an engine's page takes {}; make room there, or set XDG_RUNTIME_DIR", path,
        report::bytes(free), report::bytes(sizeof(dmprof_page)));
  }
  return "";
}

std::string nothing_recorded(const SessionRequest& request, const capture::Outcome& outcome,
                             const std::vector<std::string>& problems) {
  if (const std::string cramped = cramped_run_directory(); !cramped.empty()) return "nothing was recorded: " + cramped;
  if (!problems.empty()) return "nothing was recorded: " + problems.front();
  if (request.command.empty()) return "nothing was recorded: " + outcome.text;
  // Ctrl-C reaches the command as well as us, and often first.
  const int by = outcome.child ? outcome.child->signal : 0;
  if (outcome.reason == capture::StopReason::signal || by == SIGINT || by == SIGTERM)
    return "nothing was recorded: it was stopped before an engine was there";
  return fmt::format(
      "nothing was recorded: no process of {} uses the dmprof SDK (it ended with {}); see dmprof/sdk/dmprof.h, or "
      "record an engine that does",
      shell_quoted({request.command.front()}), outcome.child ? outcome.child->text() : "no status");
}

class IgnoredPipe {
 public:
  IgnoredPipe() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~IgnoredPipe() { std::signal(SIGPIPE, before_); }
  IgnoredPipe(const IgnoredPipe&) = delete;
  IgnoredPipe& operator=(const IgnoredPipe&) = delete;

 private:
  void (*before_)(int);
};

}  // namespace

Result<Session> record_session(const SessionRequest& request) {
  // What cannot be recorded is found before an older recording of the same name is replaced.
  if (!request.command.empty()) DMPROF_TRY(capture::check_program(request.command.front()));
  for (const std::int64_t pid : request.pids) {
    if (auto engine = attach::find_engine(pid); !engine) return tl::unexpected(engine.error());
  }
  // From here to the end of the recording nobody who stops reading (| head) may end it.
  const IgnoredPipe ignored_pipe;
  const Result<double> event_cost = measure_event_cost();
  // Signals first: the threads started below must have them blocked.
  auto signals = capture::StopSignals::take();
  if (!signals) return tl::unexpected(signals.error());
  auto file = OutputFile::claim(request.output, request.stem, request.force);
  if (!file) return tl::unexpected(file.error());
  WriterOptions writer_options;
  writer_options.overwrite = true;
  auto writer = Writer::create(file->path().string(), writer_options);
  if (!writer) {
    file->discard();
    return tl::unexpected(writer.error());
  }
  const auto discard = [&] {
    writer->reset();
    file->discard();
  };

  // Before the command is started: a full disk is mostly found here, and then nothing was begun.
  Status begun = store_facts(**writer, request, event_cost);
  if (begun) begun = (*writer)->sync();
  if (!begun) {
    discard();
    return tl::unexpected(begun.error());
  }

  attach::AttachOptions attach_options;
  attach_options.pids = request.pids;
  if (!request.command.empty()) attach_options.session = attach::make_session();
  attach::AttachCollector collector(attach_options);
  std::optional<capture::Child> child;
  if (!request.command.empty()) {
    auto started = capture::Child::start(request.command, {{"DMPROF_CONTROL", attach_options.session}});
    if (!started) {
      discard();
      return tl::unexpected(started.error());
    }
    child.emplace(std::move(*started));
  }

  // A command that prints to the same terminal has it to itself: redrawing a line would wipe out its text.
  ProgressLine line(stderr, !request.quiet && (request.command.empty() || !is_terminal(stdout)));
  capture::RecordOptions options;
  options.duration = request.duration;
  options.commit_every = request.commit_every;
  options.progress = [&](const capture::Progress& progress) { line.show(progress_text(progress)); };
  options.unrecorded = [&](const Error& failure) {
    line.clear();
    fmt::print(stderr, "warning: the recording has failed ({}); the command goes on unrecorded, dmprof waits for it\n",
               report::printable(failure.message));
  };
  auto outcome = capture::record(collector, **writer, *signals, child ? &*child : nullptr, options);
  line.clear();
  if (!request.quiet)
    for (const std::string& problem : collector.problems())
      fmt::print(stderr, "note: {}\n", report::printable(problem));
  if (!outcome) {
    discard();
    return tl::unexpected(outcome.error());
  }
  if (outcome->processes == 0 || (outcome->failure && outcome->events_committed == 0)) {
    discard();
    if (outcome->failure) return tl::unexpected(*outcome->failure);
    return fail(ErrorKind::environment, nothing_recorded(request, *outcome, collector.problems()));
  }
  file->keep();
  return Session{file->path(), std::move(*outcome)};
}

namespace {

Result<ExitStatus> conclude(const Session& session, const Shared& shared) {
  const std::string file = session.file.string();
  const capture::Outcome& outcome = session.outcome;
  if (outcome.failure) {
    // Where the disk is full there is no room for the metrics either; they are then computed when somebody asks.
    if (evaluate_and_store(session.file)) (void)store_findings(session.file);
    const std::string command = outcome.child ? fmt::format("; the command ended with {}", outcome.child->text()) : "";
    return fail(outcome.failure->kind,
                fmt::format("the recording ended early: {}; {} holds the {} event{} before it{}",
                            outcome.failure->message, file, report::thousands(outcome.events_committed),
                            outcome.events_committed == 1 ? "" : "s", command));
  }
  ProgressLine line(stderr, true);
  line.show(fmt::format("computing the metrics of {} events", report::thousands(outcome.totals.events)));
  auto evaluation = evaluate_and_store(session.file);
  line.clear();
  Status stored = evaluation ? store_findings(session.file) : tl::unexpected(evaluation.error());
  // The recording is whole; only its metrics are missing, for want of memory or space.
  if (!stored) fmt::print(stderr, "warning: no metrics were stored: {}\n", report::printable(stored.error().message));
  if (!shared.question.names.empty()) return answer_from(session.file, shared.question, shared.json);

  std::error_code ignored;
  const std::uintmax_t bytes = std::filesystem::file_size(session.file, ignored);
  if (shared.json) {
    nlohmann::ordered_json object = {{"run", file},
                                     {"ended", outcome.text},
                                     {"events", outcome.totals.events},
                                     {"lost", outcome.totals.lost},
                                     {"bytes", bytes},
                                     {"seconds", outcome.totals.seconds},
                                     {"processes", outcome.processes}};
    object["command_status"] =
        outcome.child && outcome.child->signal == 0 ? nlohmann::ordered_json(outcome.child->exit_status) : nullptr;
    object["command_signal"] =
        outcome.child && outcome.child->signal != 0 ? nlohmann::ordered_json(outcome.child->signal) : nullptr;
    DMPROF_TRY(write_out(report::dump(object) + "\n"));
    return ExitStatus::done;
  }
  std::vector<MetricValue> shown;
  for (const MetricValue& value : evaluation ? evaluation->values : std::vector<MetricValue>()) {
    if (value.ok() && std::find(summary_metrics.begin(), summary_metrics.end(), value.name) != summary_metrics.end())
      shown.push_back(value);
  }
  auto reader = Reader::open(file);
  if (!reader) return tl::unexpected(reader.error());
  auto note = coverage_note(*reader);
  if (!note) return tl::unexpected(note.error());
  if (!note->empty()) *note += "\n";
  const report::Style style(wants_colour(stderr));
  std::string ending = outcome.text;
  if (outcome.child && (outcome.child->signal != 0 || outcome.child->exit_status != 0))
    ending += fmt::format(" with {}", outcome.child->text());
  fmt::print(stderr, "{}: {} in {:.1f} s, {}, {} ({})\n{}{}next: dmprof diagnose {}\n", style.bold(file),
             report::quantity(static_cast<double>(outcome.totals.events), "events"), outcome.totals.seconds,
             losses_text(outcome), report::bytes(bytes), ending, *note, report::metrics_text(shown, false, style),
             shell_quoted({file}));
  return ExitStatus::done;
}

}  // namespace

Result<ExitStatus> record_and_conclude(const SessionRequest& request, const Shared& shared) {
  auto session = record_session(request);
  if (!session) return tl::unexpected(session.error());
  return conclude(*session, shared);
}

}  // namespace dmprof::cli
