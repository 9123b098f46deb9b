// What-if: the metrics that this recording predicts for other knobs. Three models share one simulated clock:
//
//   speculation  a_k, draft cost and verify cost as measured; beyond what was recorded a stated extrapolation (costs.h)
//   cache        the recorded demand accesses replayed under another policy, size or prefetch distance (replay.h)
//   queue        the recorded requests served again under another admission limit or draft schedule (serve.h)
//
// Inputs are the recording and, where named, profiles: other recordings of the same engine. Nothing else is known, no
// table of what drafts usually achieve, and no emitter's parameters: what the recording cannot tell is unavailable.
// Deterministic. A Model is built once and asked from one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzers/registry/metric.h"
#include "analyzers/registry/recording.h"
#include "dmprof/base/error.h"

namespace dmprof::whatif {

struct Setting {  // of one knob, as asked for
  std::string knob;
  std::string value;
};

struct Change {
  std::string knob, from, to;
};

struct Range {  // about 95 %
  double low = 0, mid = 0, high = 0;
};

struct Figure {
  std::string metric;  // "throughput", "itl_p99"
  std::string unit;
  std::optional<double> recorded;
  std::optional<Range> predicted;
  std::string reason;  // why there is no prediction, "" where there is
};

struct Prediction {
  std::vector<Change> changes;  // knobs whose value differs from the recorded one
  std::vector<Figure> figures;
  // Better by this factor, above 1 is a gain: throughput after / before, for latencies before / after.
  std::optional<Range> gain(std::string_view metric) const;
  std::string reason;  // why nothing could be predicted, "" otherwise
  // What a gain is measured by here: throughput, or e2e_latency where requests come so rarely that the engine keeps up
  // and throughput is theirs to set.
  std::string objective = "throughput";
  std::vector<std::string> assumptions;
  // The models at the recorded settings against the recording: modelled / measured - 1. Nothing when not modelled.
  std::optional<double> throughput_residual, stall_residual;
};

struct Profile {  // another recording of the same engine, named
  std::string name;
  const Recording* recording = nullptr;
};

// The event kinds a recording must be loaded with, and the metrics whose values predictions start from.
Events events_needed();
std::vector<std::string> metrics_needed();

// "lookahead=8,cache_policy=2". Empty items, a knob twice and a missing "=" are usage errors.
Result<std::vector<Setting>> parse_settings(std::string_view text);

class Predictor;

class Model {
 public:
  // Keeps references: recording, profiles and values must outlive it. `recorded` holds values of metrics_needed();
  // missing ones only cost their figure.
  Model(const Recording& recording, std::span<const MetricValue> recorded, std::vector<Profile> profiles = {});
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  // usage: a name nobody knows (with the nearest), a value outside the knob's range. cannot_answer: a knob that
  // dmprof knows but this recording does not register. What is asked correctly but cannot be predicted is a
  // Prediction with a reason.
  Result<Prediction> predict(std::span<const Setting> settings) const;

 private:
  std::unique_ptr<Predictor> predictor_;
};

}  // namespace dmprof::whatif
