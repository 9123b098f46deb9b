// What `dmprof advise` judges: a model's shape, a machine and a load, each from a recording or from flags, and where it
// came from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzers/plan/advise.h"
#include "dmprof/base/error.h"

namespace dmprof::cli {

struct AdviceQuestion {
  std::string file;                                  // a recording; the newest one when empty
  std::string hardware;                              // preset or profile; "" = the machine of the recording
  std::string model;                                 // preset or shape; "" = as the recording has it
  std::uint32_t batch = 0, tokens = 0, context = 0;  // 0: as recorded
  plan::AdviceOptions options;

  // A model, hardware and load that are all given need no recording.
  bool complete() const { return !hardware.empty() && !model.empty() && batch > 0 && context > 0; }
};

struct Advised {
  plan::Change change;
  plan::DecodeCost cost;
  std::optional<plan::Gain> gain;  // nothing: the recorded step and its roofline do not agree
};

// What the target's passes of a recording did: FLOP/B, and bytes a step.
struct RecordedWork {
  double intensity = 0, bytes = 0;
};

struct Advice {
  std::string run;  // the recording, "" without one
  plan::ModelShape model;
  plan::Hardware hardware;
  plan::DecodeLoad load;
  std::string model_source, hardware_source, load_source;  // in words
  plan::DecodeCost now;
  std::optional<plan::MeasuredStep> measured;  // of the same model, load and machine only
  std::optional<RecordedWork> work;            // of the same load only
  std::vector<Advised> changes;                // the largest gain first, what goes together last
  std::vector<std::string> notes;              // what limits all of it
};

// Errors: those of the recording and the files; cannot_answer, with what to add, where neither has what is needed.
Result<Advice> advise(const AdviceQuestion& question);

// The same without a recording, for figures that are all known.
Advice advise(const plan::ModelShape& model, const plan::Hardware& hardware, const plan::DecodeLoad& load,
              const plan::AdviceOptions& options);

}  // namespace dmprof::cli
