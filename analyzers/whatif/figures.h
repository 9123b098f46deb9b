// From served variants to figures with intervals.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "analyzers/whatif/serve.h"
#include "analyzers/whatif/whatif.h"

namespace dmprof::whatif {

// What a prediction prints, besides the hit rate.
enum class Quantity {
  throughput,
  decode_throughput,
  step_time,
  acceptance_length,
  itl_p50,
  itl_p99,
  e2e_latency,
  e2e_latency_p99
};

struct QuantityInfo {
  Quantity quantity;
  const char* name;
  const char* metric;      // whose recorded value it starts from
  const char* percentile;  // of it, "" = the value itself
  bool higher_is_better;
};
std::span<const QuantityInfo> quantities();

// Of one serving, averaged over seeds; nothing where it has no samples.
class Outcome {
 public:
  Outcome(const Load& load, const StepCosts& costs, const Serving& serving, std::uint32_t seeds);
  const std::vector<double>& of(Quantity quantity) const;  // one a seed, empty = none

 private:
  std::map<Quantity, std::vector<double>> values_;
};

// `mid` against `before`, both from the same model, applied to the recorded value. The interval adds, as independent
// errors: what each low/high variant does (they come in pairs), the scatter over seeds, and `error`, relative.
std::optional<Range> scaled(Quantity quantity, double recorded, const Outcome& before, const Outcome& mid,
                            std::span<const Outcome> variants, double error);

}  // namespace dmprof::whatif
