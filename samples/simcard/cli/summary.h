// What came of a run, for people and for scripts.
#pragma once

#include <string>

#include "samples/simcard/card/run.h"

namespace dmprof::simcard {

struct RunDescription {
  std::string scenario, title;
  RunOptions options;
  CardParameters parameters;  // as run, knobs included
};

// Keys: README.md. Figures that a run without the events for them cannot give are null.
std::string summary_json(const RunDescription& description, const RunResult& result);
std::string summary_text(const RunDescription& description, const RunResult& result);

}  // namespace dmprof::simcard
