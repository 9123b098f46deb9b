// The metrics this build knows. Each analyzer adds its own with a function that a caller names (analyzers/all calls
// them all): nothing registers itself behind the reader's back. Build once, then read from any thread.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/registry/metric.h"
#include "analyzers/registry/recording.h"
#include "dmprof/base/error.h"

namespace dmprof {

struct EvaluateOptions {
  std::optional<By> by = {};
  Objectives slo = {};
  std::optional<TimeNs> window_begin = {}, window_end = {};  // recording's clock; empty = whole run
};

class Catalogue {
 public:
  // A name that is already there, or an incomplete metric, is a mistake of the program: add() ends it with a message.
  void add(Metric metric);

  const Metric* find(std::string_view name) const;
  const std::vector<Metric>& metrics() const { return metrics_; }
  std::vector<std::string> names() const;
  // ErrorKind::usage with a suggestion for the first unknown name.
  Status check(std::span<const std::string> names) const;
  // The event kinds that these metrics read; load a recording with at least these.
  Events events(std::span<const std::string> names) const;

  // One value per name, in order. Only an unknown name is an error (usage): what the recording cannot answer is a value
  // whose status is unavailable, what it answers wrongly (a ratio outside [0, 1], not a number) one whose status is
  // invalid.
  Result<std::vector<MetricValue>> evaluate(std::span<const std::string> names, const Recording& recording,
                                            const EvaluateOptions& options = {}) const;

 private:
  std::vector<Metric> metrics_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

// Turns a value that its unit forbids into an instrument error. evaluate() applies it to every value.
void guard(MetricValue& value);

}  // namespace dmprof
