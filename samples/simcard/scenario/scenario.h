// A scenario: a claim, an experiment with its settings, and what the claim says the figures should be. The verdict
// follows from the figures; it is not written in the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dmprof/base/description/document.h"
#include "dmprof/base/error.h"

namespace dmprof::simcard {

// A figure an experiment gives.
struct Figure {
  std::string name;
  double value = 0;
  std::string unit;
};
using Figures = std::vector<Figure>;

// What the claim says one figure is: a value with a tolerance, or a range (a bound may be open).
struct Claimed {
  std::string figure;
  std::optional<double> says, low, high;
  double tolerance = 0.1;  // relative, of `says`
  std::string assumes;     // the settings that the figure follows from by arithmetic alone; empty: a run gives it
  int line = 0;
};

struct Scenario {
  std::string id, title, claim;
  std::string experiment, experiment_at;  // the second: "file:line: experiment"
  std::string conditions;                 // under which the claim holds; empty: none
  std::string reason;                     // why the figures are as they are; needed where the claim is contradicted
  std::vector<Claimed> claims;
  std::int64_t seed = 1;
  Section settings;
  std::string file;
};

// Reads samples/scenarios/*.yaml; everything but `settings`, which the experiment reads.
Result<Scenario> read_scenario(const Document& document);

// `assumed`: every claim follows from what was put in, so that nothing was tried.
enum class Verdict { holds, holds_under_conditions, assumed, contradicted };
std::string_view verdict_name(Verdict verdict);

struct Compared {
  Claimed claimed;
  double value = 0;
  double residual = 0;  // (value - says) / says; for a range, how far outside relative to the nearer bound; 0 within
  bool within = false;
};

struct Outcome {
  Scenario scenario;
  Figures figures;
  std::vector<Compared> compared;
  Verdict verdict = Verdict::contradicted;
};

// Compares figures with claims. A claim about a figure that the experiment does not give, and a contradicted claim
// without a reason, are errors of the scenario file.
Result<Outcome> judge(Scenario scenario, Figures figures);

}  // namespace dmprof::simcard
