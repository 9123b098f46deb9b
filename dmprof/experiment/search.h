// Searches the settings of a command by running it: one knob at a time from the best found so far. Every candidate runs
// beside the recorded setting, so that a machine that drifts does not choose for it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/experiment/compare.h"

namespace dmprof::experiment {

struct Dimension {
  std::string knob;
  std::vector<std::string> values;  // of a range of numbers ascending, choices as the range lists them
  std::size_t recorded = 0;         // index of the recorded value
};

using Settings = std::map<std::string, std::string>;  // by knob; only what differs from the recorded setting

// Values worth trying for a knob: "0|1|2" are all tried, of "1..16" the recorded value, both ends (where there is an
// upper one below 1024) and the powers of two between a quarter and four times the recorded value. Fewer than two:
// nothing to try.
Dimension dimension(const std::string& knob, const std::string& range, const std::string& recorded);

struct Trial {
  Settings settings;                     // empty: as recorded
  std::map<std::string, double> ratios;  // against the recorded setting, medians over the pairs
  std::size_t pairs = 0;
  bool on_frontier =
      false;  // no other setting is better in one of throughput and tail latency and not worse in the other
};

struct SearchOptions {
  Objective objective;    // what is climbed
  std::size_t runs = 40;  // no further run is begun beyond it
  std::function<Variant(const Settings&)> variant;
  std::function<void(std::size_t run, std::size_t most, const Settings&)> progress;  // may be empty
};

// The recorded setting first, then what was tried, in the order of its first run. A setting whose run fails is left out
// and told in `failures`. Errors: cannot_answer when the recorded setting itself cannot be run or does not measure the
// objective.
struct SearchResult {
  std::vector<Trial> trials;
  std::size_t best = 0;  // index; 0 when nothing beats the recorded setting beyond noise
  std::size_t runs = 0;
  std::vector<std::string> failures;
};
Result<SearchResult> search(const std::vector<Dimension>& dimensions, const Runner& run, const SearchOptions& options);

}  // namespace dmprof::experiment
