#include "dmprof/cli/metric_answer.h"
#include "dmprof/cli/coverage.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "collectors/attach/engines.h"
#include "dmprof/base/suggest.h"
#include "dmprof/cli/evaluation.h"
#include "dmprof/cli/output.h"
#include "dmprof/cli/recording_session.h"
#include "dmprof/cli/recordings.h"
#include "dmprof/cli/terminal.h"
#include "dmprof/cli/values.h"
#include "dmprof/report/metric_json.h"
#include "dmprof/report/metric_text.h"

namespace dmprof::cli {

namespace {

namespace fs = std::filesystem;

Result<EvaluateOptions> options_of(const MetricQuestion& question) {
  EvaluateOptions options;
  auto by = parse_breakdown(question.by);
  if (!by) return tl::unexpected(by.error());
  options.by = *by;
  if (!question.slo.empty()) {
    auto slo = parse_objectives(question.slo);
    if (!slo) return tl::unexpected(slo.error());
    options.slo = *slo;
  }
  return options;
}

// Records the one engine of this user for a few seconds.
Result<fs::path> record_live(const MetricQuestion& question) {
  if (!(question.duration_s > 0 && question.duration_s <= 86400))
    return fail(ErrorKind::usage, "--duration: a positive number of seconds, at most a day");
  auto engines = attach::list_engines();
  if (!engines) return tl::unexpected(engines.error());
  if (engines->empty())
    return fail(ErrorKind::environment,
                "no engine with the dmprof SDK runs; start one, or record a command with dmprof run -- CMD");
  if (engines->size() > 1) {
    std::string pids;
    for (const attach::EngineInfo& engine : *engines)
      pids += fmt::format("{}{} ({})", pids.empty() ? "" : ", ", engine.pid, engine.name);
    return fail(ErrorKind::usage, fmt::format("{} engines run: {}; choose one with dmprof attach --pid PID --metric …",
                                              engines->size(), pids));
  }
  SessionRequest request;
  request.stem = fmt::format("live-{}", engines->front().name);
  request.pids = {engines->front().pid};
  request.duration = std::chrono::nanoseconds(std::llround(question.duration_s * 1e9));
  auto session = record_session(request);
  if (!session) return tl::unexpected(session.error());
  if (session->outcome.failure) return tl::unexpected(*session->outcome.failure);
  if (auto stored = evaluate_and_store(session->file); !stored) return tl::unexpected(stored.error());
  return session->file;
}

Result<fs::path> recording_for(const MetricQuestion& question) {
  if (!question.run.empty()) {
    if (question.live) return fail(ErrorKind::usage, "--run and --live exclude each other; choose one");
    return fs::path(question.run);
  }
  if (question.live) return record_live(question);
  auto newest = recording_or_newest("");
  if (newest) return newest;
  // No recording yet: a single running engine is as good an answer as a file.
  const auto engines = attach::list_engines();
  if (newest.error().kind == ErrorKind::cannot_answer && engines && engines->size() == 1) return record_live(question);
  return newest;
}

}  // namespace

void declare_metric_question(const Syntax& root, const std::shared_ptr<Shared>& shared) {
  MetricQuestion& question = shared->question;
  root.texts("--metric", question.names, "NAME[,NAME…]",
             "Print these metrics, alone or after run and attach; dmprof metrics lists them");
  root.text("--run", question.run, "FILE", "Recording that answers; the newest one when left out");
  root.text("--by", question.by, "WHAT", "Break down by request, layer, tier, position, phase or window");
  root.flag("--json", shared->json, "Print JSON");
  root.text("--slo", question.slo, "LIST", "Objectives for goodput, such as ttft=200ms,itl=50ms (also tpot, e2e)");
  root.flag("--live", question.live, "Attach to the running engine and answer from that");
  root.number("--duration", question.duration_s, "S", "Seconds that --live records (5)");
}

Status check_question(const MetricQuestion& question) {
  auto names = split_names(question.names);
  if (!names) return tl::unexpected(names.error());
  const std::vector<std::string> known = catalogue().names();
  for (const std::string& name : *names) {
    if (catalogue().find(name) != nullptr) continue;
    return fail(ErrorKind::usage, fmt::format("no metric is called {}{}; dmprof metrics lists them all", name,
                                              did_you_mean(name, known)));
  }
  auto options = options_of(question);
  return options ? Status{} : tl::unexpected(options.error());
}

Result<ExitStatus> answer_from(const fs::path& recording, const MetricQuestion& question, bool json) {
  auto names = split_names(question.names);
  if (!names) return tl::unexpected(names.error());
  auto options = options_of(question);
  if (!options) return tl::unexpected(options.error());
  auto reader = Reader::open(recording.string());
  if (!reader) return tl::unexpected(reader.error());
  auto evaluation = evaluate(*reader, *names, *options);
  if (!evaluation) return tl::unexpected(evaluation.error());
  auto note = coverage_note(*reader);
  if (!note) return tl::unexpected(note.error());
  if (json) {
    DMPROF_TRY(write_out(report::metrics_json(recording.string(), evaluation->values, *note)));
  } else {
    DMPROF_TRY(write_out(report::metrics_text(evaluation->values, true, report::Style(wants_colour(stdout)))));
    if (!note->empty()) fmt::print(stderr, "note: {}\n", *note);
  }
  return evaluation->all_ok() ? ExitStatus::done : ExitStatus::cannot_answer;
}

Result<ExitStatus> answer_question(const Shared& shared) {
  DMPROF_TRY(check_question(shared.question));
  auto recording = recording_for(shared.question);
  if (!recording) return tl::unexpected(recording.error());
  return answer_from(*recording, shared.question, shared.json);
}

}  // namespace dmprof::cli
