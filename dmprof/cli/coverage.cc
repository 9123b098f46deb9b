#include "dmprof/cli/coverage.h"

#include <fmt/format.h>

#include "analyzers/registry/load.h"
#include "dmprof/report/format.h"

namespace dmprof::cli {

namespace {

constexpr std::size_t most_named = 8;

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

Result<std::string> coverage_note(const Reader& reader) {
  auto note = processes_note(reader);
  if (!note) return note;
  const auto broken = is_broken_off(reader);
  if (!broken) return tl::unexpected(broken.error());
  if (*broken) {
    *note += note->empty() ? "" : "; ";
    *note += "the recording broke off (its recorder was killed or could not write): figures cover what was committed";
  }
  return note;
}

}  // namespace dmprof::cli
