// Two settings of one command, run in turns: what the second changes, with an interval, and whether that is more than
// the machine's noise. What a run measures is the caller's: nothing here starts a process.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "dmprof/base/error.h"
#include "dmprof/experiment/median_interval.h"
#include "dmprof/experiment/variant.h"

namespace dmprof::experiment {

struct Measurement {
  std::map<std::string, double> values;  // by metric: "throughput", "itl.p99"; what could not be measured is absent
  bool virtual_time = false;             // of a simulation: the same run gives the same figures
};

using Runner = std::function<Result<Measurement>(const Variant&)>;

struct Objective {
  std::string metric;
  bool more_is_better = true;
};

enum class Verdict { confirmed, no_effect, worse };
std::string_view to_text(Verdict verdict);  // "confirmed", "no effect", "worse"

struct Comparison {
  Objective objective;
  Verdict verdict = Verdict::no_effect;
  std::size_t pairs = 0;
  bool exact = false;                           // virtual time, and the repeated runs were equal: no noise, no interval
  std::map<std::string, Estimate> ratios;       // after / before of each metric that every run had, from the pairs
  std::map<std::string, double> before, after;  // medians
};

struct CompareOptions {
  std::chrono::seconds budget{600};  // no further pair is begun after it; the first 7 are made anyway
  std::function<void(std::size_t pair, std::size_t most)> progress;  // before each pair; may be empty
};

// Pairs run in turns (before first, then after first, and so on), so that a machine which drifts slows both alike.
// Looks at the ratios after 7, 11 and 15 pairs and stops when the objective's interval leaves 1 out, or lies within 2 %
// of it. The interval at each look is the median's by order statistics at 98 % or more, so that over three looks a
// change is claimed where there is none in at most 5 of 100 comparisons. Errors: what a run says; cannot_answer when a
// run did not measure the objective.
Result<Comparison> compare(const Variant& before, const Variant& after, const Objective& objective, const Runner& run,
                           const CompareOptions& options);

}  // namespace dmprof::experiment
