#include "dmprof/cli/rerun.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <vector>

#include "dmprof/base/suggest.h"
#include "dmprof/cli/evaluation.h"
#include "dmprof/cli/recording_session.h"
#include "dmprof/cli/terminal.h"
#include "dmprof/report/format.h"
#include "dmprof/store/reader.h"
#include "rules/engine/fixes.h"

extern char** environ;

namespace dmprof::cli {

namespace fs = std::filesystem;

namespace {

const std::vector<std::string> judged = {"throughput",
                                         "decode_throughput",
                                         "step_time",
                                         "itl",
                                         "tpot",
                                         "ttft",
                                         "e2e_latency",
                                         "prefetch_hit_rate",
                                         "acceptance_length",
                                         "bandwidth_utilization",
                                         "energy_per_token"};

// Stop signals reach only the run that waits for them (capture::StopSignals), never the code between two runs.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
    ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_{};
};

std::string last_line(const fs::path& log) {
  std::ifstream file(log);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

// DM_* of this process's environment that the recorded command did not have.
std::vector<std::string> variables_to_clear(const std::map<std::string, std::string>& recorded) {
  std::vector<std::string> names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string name(text.substr(0, text.find('=')));
    if (name.starts_with("DM_") && !recorded.contains(name)) names.push_back(name);
  }
  return names;
}

Result<experiment::Measurement> measure(const fs::path& recording) {
  auto reader = Reader::open(recording.string());
  if (!reader) return tl::unexpected(reader.error());
  auto clocks = reader->clocks();
  if (!clocks) return tl::unexpected(clocks.error());
  auto evaluation = evaluate(*reader, judged, {});
  if (!evaluation) return tl::unexpected(evaluation.error());
  experiment::Measurement measurement;
  for (const ClockRow& clock : *clocks) measurement.virtual_time |= clock.kind == ClockKind::virtual_time;
  for (const MetricValue& value : evaluation->values) {
    if (!value.ok() || !value.value) continue;
    measurement.values[value.name] = *value.value;
    if (value.spread) measurement.values[value.name + ".p99"] = value.spread->p99;
  }
  return measurement;
}

}  // namespace

struct Rerun::State {
  RecordedCommand command;
  fs::path folder;                     // "" before the first run
  std::optional<HeldSignals> signals;  // from the first run on: whoever is still asked whether to run can say no

  ~State() {
    std::error_code ignored;
    if (!folder.empty()) fs::remove_all(folder, ignored);
  }
  Status begin() {
    if (!folder.empty()) return {};
    std::error_code error;
    std::string pattern = (fs::temp_directory_path(error) / "dmprof-rerun.XXXXXX").string();
    if (!signals) signals.emplace();
    if (::mkdtemp(pattern.data()) == nullptr) {
      return fail(ErrorKind::environment,
                  fmt::format("no folder {} can be made for the runs; set TMPDIR to one that can be written", pattern));
    }
    folder = pattern;
    return {};
  }
};

Rerun::Rerun(std::unique_ptr<State> state) : state_(std::move(state)) {}
Rerun::Rerun(Rerun&&) noexcept = default;
Rerun::~Rerun() = default;

Result<Rerun> Rerun::of(const fs::path& recording) {
  auto reader = Reader::open(recording.string());
  if (!reader) return tl::unexpected(reader.error());
  auto command = recorded_command(*reader);
  if (!command) return tl::unexpected(command.error());
  if (command->line.empty()) {
    return fail(ErrorKind::cannot_answer,
                fmt::format("{} does not name the one command that made it, so it cannot be run again; "
                            "record it with dmprof run -- CMD",
                            recording.string()));
  }
  auto state = std::make_unique<State>();
  state->command = std::move(*command);
  return Rerun(std::move(state));
}

const RecordedCommand& Rerun::command() const { return state_->command; }

experiment::Variant Rerun::as_recorded() const {
  return {"as recorded",
          rules::line_of(state_->command.context()),
          state_->command.directory,
          variables_to_clear(state_->command.variables),
          {}};
}

Result<experiment::Variant> Rerun::with(const experiment::Settings& settings) const {
  experiment::Variant variant = as_recorded();
  rules::Context context = state_->command.context();
  variant.name.clear();
  for (const auto& [name, value] : settings) {
    const Knob* knob = nullptr;
    std::vector<std::string> known;
    for (const Knob& one : state_->command.knobs) {
      known.push_back(one.name);
      if (one.name == name && (knob == nullptr || one.since >= knob->since)) knob = &one;
    }
    if (knob == nullptr) {
      return fail(ErrorKind::usage,
                  fmt::format("{} has no knob {}{}; dmprof query \"select name, value, range from knob\" lists them",
                              state_->command.engine.empty() ? "the recorded engine" : state_->command.engine, name,
                              did_you_mean(name, known)));
    }
    if (knob->how == "file") {
      variant.files.push_back({knob->handle, value});
    } else if (auto changed = rules::with_setting(*knob, value, context)) {
      context = std::move(*changed);
    } else {
      return fail(ErrorKind::usage,
                  fmt::format("the knob {} does not say how it is set (flag, environment or file), so it cannot be "
                              "tried; set it in the engine",
                              name));
    }
    variant.name += fmt::format("{}{} = {}", variant.name.empty() ? "" : ", ", name, value);
  }
  variant.line = rules::line_of(context);
  if (variant.name.empty()) variant.name = "as recorded";
  return variant;
}

Result<experiment::Measurement> Rerun::run(const experiment::Variant& variant) {
  DMPROF_TRY(state_->begin());
  std::vector<experiment::HeldFile> held;
  for (const experiment::FileSetting& file : variant.files) {
    auto set = experiment::HeldFile::set(file);
    if (!set) return tl::unexpected(set.error());
    held.push_back(std::move(*set));
  }
  const fs::path log = state_->folder / "log", recording = state_->folder / "run.dmprof";
  SessionRequest request;
  request.command = experiment::shell_words(variant, log);
  request.output = recording.string();
  request.quiet = true;
  auto session = record_session(request);
  const auto failed = [&](const std::string& how) {
    const std::string said = last_line(log);
    return fail(ErrorKind::environment,
                fmt::format("the run with {} {}{}{}", variant.name, how, said.empty() ? "" : ": ", said));
  };
  if (!session) return failed(fmt::format("was not recorded ({})", session.error().message));
  const capture::Outcome& outcome = session->outcome;
  if (outcome.reason == capture::StopReason::signal) return fail(ErrorKind::environment, outcome.text);
  if (outcome.failure) return tl::unexpected(*outcome.failure);
  if (outcome.child && (outcome.child->signal != 0 || outcome.child->exit_status != 0))
    return failed("ended with " + outcome.child->text());
  auto measurement = measure(recording);
  std::error_code ignored;
  fs::remove(recording, ignored);
  return measurement;
}

Status ask_to_run(const std::string& what, bool yes) {
  if (yes) return {};
  if (!is_terminal(stderr) || ::isatty(STDIN_FILENO) == 0) {
    return fail(ErrorKind::usage, fmt::format("{}; say --yes to let it", what));
  }
  fmt::print(stderr, "{}. Go on? [y/N] ", report::printable(what));
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return {};
  return fail(ErrorKind::usage, "nothing was run");
}

}  // namespace dmprof::cli
