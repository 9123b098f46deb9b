#include "dmprof/cli/processes.h"

#include <fmt/format.h>

#include "dmprof/report/format.h"

namespace dmprof::cli {

Result<std::string> processes_note(const Reader& reader) {
  constexpr std::size_t most_named = 8;
  auto processes = reader.processes();
  if (!processes) return tl::unexpected(processes.error());
  if (processes->size() < 2) return std::string();
  std::string names;
  for (std::size_t i = 0; i < processes->size() && i < most_named; ++i) {
    const ProcessRow& process = (*processes)[i];
    names += fmt::format("{}{} (pid {})", names.empty() ? "" : ", ", report::printable(process.name), process.pid);
  }
  if (processes->size() > most_named) names += fmt::format(" and {} more", processes->size() - most_named);
  return fmt::format("{} processes: {}; the figures cover them together", processes->size(), names);
}

}  // namespace dmprof::cli
