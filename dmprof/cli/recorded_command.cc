#include "dmprof/cli/recorded_command.h"

#include <algorithm>

namespace dmprof::cli {

namespace {

// The process whose knobs and name a fix is written for: the one with knobs, else the first.
const ProcessRow* engine_process(const std::vector<ProcessRow>& processes, const std::vector<Knob>& knobs) {
  for (const ProcessRow& process : processes) {
    const auto has_knob =
        std::any_of(knobs.begin(), knobs.end(), [&](const Knob& knob) { return knob.process == process.id; });
    if (has_knob) return &process;
  }
  return processes.empty() ? nullptr : &processes.front();
}

}  // namespace

rules::Context RecordedCommand::context() const {
  rules::Context context;
  context.knobs = knobs;
  context.engine = engine;
  context.command = line;
  context.variables = variables;
  return context;
}

Result<RecordedCommand> recorded_command(const Reader& reader) {
  auto knobs = reader.knobs();
  if (!knobs) return tl::unexpected(knobs.error());
  auto processes = reader.processes();
  if (!processes) return tl::unexpected(processes.error());
  auto environment = reader.environment();
  if (!environment) return tl::unexpected(environment.error());
  RecordedCommand command;
  if (const ProcessRow* engine = engine_process(*processes, *knobs)) command.engine = engine->name;
  command.knobs = std::move(*knobs);
  for (const Setting& setting : *environment) {
    if (setting.key == "command") command.line = setting.value;
    if (setting.key == "command.directory") command.directory = setting.value;
    if (setting.key.starts_with("env.DM_")) command.variables[setting.key.substr(4)] = setting.value;
  }
  return command;
}

}  // namespace dmprof::cli
