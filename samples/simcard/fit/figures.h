// The figures the twin predicts, computed by the catalogue's own metrics: from a recording, and from a twin's trace
// made to look like one. So predicted and measured have one definition.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzers/registry/recording.h"
#include "samples/simcard/twin/description.h"
#include "samples/simcard/twin/trace.h"

namespace dmprof::twin {

struct FigureInfo {
  std::string name;    // "step_time_p99"
  std::string metric;  // of the catalogue
  std::string part;    // "", "p50", "p95", "p99"
  std::string unit;
};

const std::vector<FigureInfo>& figure_list();

// By name. What cannot be answered (acceptance without speculation) is absent.
using Figures = std::map<std::string, double>;

Figures figures_of(const Recording& recording);
Recording to_recording(const Trace& trace);

}  // namespace dmprof::twin
