// From recordings of the reference engine to a twin of it. The first recording is the base: its settings are the ones a
// prediction starts from. Further recordings of the same requests on the same machine add what one cannot know: another
// draft's program and acceptance (a profile), or more samples.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzers/registry/recording.h"
#include "dmprof/base/error.h"
#include "samples/simcard/fit/acceptance.h"
#include "samples/simcard/fit/figures.h"
#include "samples/simcard/fit/text.h"
#include "samples/simcard/twin/description.h"

namespace dmprof::twin {

struct NamedRecording {
  std::string file;
  Recording recording;
};

// A recording that was fitted: its settings, its figures, and what the twin gives for the same settings.
struct FittedRecording {
  std::string file;
  Settings settings;
  Figures recorded;
  Figures simulated;  // median over seeds
};

struct Fit {
  Description description;
  std::string engine;  // "dm-engine 0.1.0"
  std::string machine;
  std::string backing;
  std::uint32_t threads = 0;
  std::vector<FittedRecording> recordings;  // the first is the base
  std::vector<DraftCurve> curves;           // by draft, as description.drafts

  const Settings& base() const { return recordings.front().settings; }
};

// cannot_answer: a recording that lacks something (each says what and how to record it); usage: recordings that do not
// belong together.
Result<Fit> fit(std::span<const NamedRecording> recordings);

}  // namespace dmprof::twin
