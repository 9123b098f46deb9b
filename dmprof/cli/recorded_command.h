// What a recording says about the command it was taken of, so that fixes can be written for it and it can be run again.
#pragma once

#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/event/sink.h"
#include "dmprof/store/reader.h"
#include "rules/engine/diagnose.h"

namespace dmprof::cli {

struct RecordedCommand {
  std::string line;                              // "" when the recording does not name one command
  std::string directory;                         // where it ran; "" when unknown
  std::map<std::string, std::string> variables;  // DM_* it ran under
  std::string engine;                            // name of the process whose knobs these are
  std::vector<Knob> knobs;                       // of that engine and others that were recorded

  // For the rules; refers to `knobs`.
  rules::Context context() const;
};

Result<RecordedCommand> recorded_command(const Reader& reader);

}  // namespace dmprof::cli
