// Runs the twin and turns its traces into figures with intervals.
#pragma once

#include <string>
#include <vector>

#include "samples/simcard/fit/fit.h"
#include "samples/simcard/fit/settings.h"

namespace dmprof::twin {

inline constexpr std::uint64_t kPredictionSeeds = 9;

struct Predicted {
  std::string name;
  std::string unit;
  double value = 0;
  double low = 0, high = 0;
};

struct Prediction {
  Settings settings;
  bool profiled = false;  // these settings were recorded
  std::vector<Predicted> figures;
  std::vector<std::string> assumptions;
};

// Median over seeds of every figure, for one setting.
Result<Figures> simulate_figures(const Description& description, const Settings& settings,
                                 std::vector<Figures>* runs = nullptr);

// The interval: the lowest and highest of the seeds and of two runs with all unknown verdicts wrong and all right,
// widened on both sides by the largest relative residual that the figure has over the fitted recordings. What re-runs
// of the engine scatter by themselves is not in it. Errors are simulate()'s.
Result<Prediction> predict(const Fit& fit, const Question& question);

}  // namespace dmprof::twin
