#include "dmprof/cli/coverage.h"

#include <fmt/format.h>

#include "analyzers/registry/load.h"
#include "dmprof/report/format.h"

namespace dmprof::cli {

namespace {

constexpr std::size_t most_named = 8;
constexpr std::uint64_t fewest_steps = 10;                // fewer give no distribution and hardly a mean
constexpr TimeNs shortest_without_steps = 1'000'000'000;  // an engine that reports steps has made one by then

// A finding needs one engine's steps and clocks: the loader chooses the process, here is which.
Result<std::string> processes_note(const Reader& reader) {
  auto processes = reader.processes();
  if (!processes) return tl::unexpected(processes.error());
  if (processes->size() < 2) return std::string();
  std::string names;
  for (std::size_t i = 0; i < processes->size() && i < most_named; ++i) {
    const ProcessRow& process = (*processes)[i];
    names += fmt::format("{}{} (pid {})", names.empty() ? "" : ", ", report::printable(process.name), process.pid);
  }
  if (processes->size() > most_named) names += fmt::format(" and {} more", processes->size() - most_named);
  auto recording = load_recording(reader, Events::none);
  if (!recording) return tl::unexpected(recording.error());
  return fmt::format("{} processes: {}; the figures are those of {}", processes->size(), names, recording->note);
}

}  // namespace

Result<bool> is_broken_off(const Reader& reader) {
  const auto run = reader.run();
  if (!run) return tl::unexpected(run.error());
  return run->end == RunEnd::interrupted;
}

Result<std::string> too_short(const Reader& reader) {
  const auto run = reader.run();
  if (!run) return tl::unexpected(run.error());
  const auto steps = reader.count<Step>();
  if (!steps) return tl::unexpected(steps.error());
  if (*steps >= fewest_steps) return std::string();
  const bool finished = run->end == RunEnd::finished && run->finished;
  // After that time none at all means that the engine reports none.
  if (*steps == 0 && finished && *run->finished - run->started >= shortest_without_steps) return std::string();
  const char* ended = run->end == RunEnd::interrupted ? "broke off" : finished ? "ended" : "stands";
  return fmt::format(
      "the recording is too short to judge an engine by: it {} {}, and {} are the least; record for longer", ended,
      *steps == 0 ? std::string("before the first step was committed")
                  : fmt::format("after {} step{}", *steps, *steps == 1 ? "" : "s"),
      fewest_steps);
}

std::string cut_off_note(const std::string& recording) {
  const std::uint64_t missing = Reader::missing_bytes(recording);
  if (missing == 0) return "";
  return fmt::format(
      "{} bytes are missing at the end of {} (an incomplete copy?), what can be read is shown; use a whole "
      "copy",
      report::thousands(missing), report::printable(recording));
}

Result<std::string> coverage_note(const Reader& reader) {
  auto note = processes_note(reader);
  if (!note) return note;
  const auto add = [&](const std::string& more) { *note += (note->empty() || more.empty() ? "" : "; ") + more; };
  const auto broken = is_broken_off(reader);
  if (!broken) return tl::unexpected(broken.error());
  if (*broken)
    add("the recording broke off (its recorder was killed or could not write): figures cover what was committed");
  const auto brief = too_short(reader);
  if (!brief) return tl::unexpected(brief.error());
  add(*brief);
  add(cut_off_note(reader.path()));
  return note;
}

}  // namespace dmprof::cli
