// The life of each request, put together from its points and from the steps that gave it tokens.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "analyzers/registry/view.h"

namespace dmprof::latency {

struct Emission {
  TimeNs time = 0;
  std::uint32_t tokens = 0;
  bool baseline = false;  // by a step that was run without speculation on purpose
};

struct Life {
  std::optional<TimeNs> arrive, schedule, first_token, end;  // schedule: the first one
  std::optional<TimeNs> gone;  // ended, failed or was cancelled: no longer in flight, whether or not it has latencies
  std::vector<TimeNs> preempted;
  std::vector<Emission> emissions;  // in time order; the first holds the first token
  std::uint64_t output_tokens() const;
};

using Lives = std::map<std::uint64_t, Life>;  // by request

Lives lives_of(const Recording& recording);

// One entry a token after the first, ns: a step that emits four gives one gap and three zeros. Gaps that a baseline
// step made are an intervention of the measurement: they are marked, and nothing that speaks of the engine counts them.
struct Gap {
  TimeNs begin = 0, end = 0;
  std::uint64_t request = 0;
  bool baseline = false;
};
std::vector<Gap> token_gaps(const Lives& lives);
void append_gaps(std::uint64_t request, const Life& life, std::vector<Gap>& gaps);

// (last - first) / (tokens - 1), ns, without the gaps and tokens of baseline steps; nothing without a token after the
// first.
std::optional<double> time_per_output_token(const Life& life);
// Time between emissions that baseline steps made, ns.
TimeNs baseline_time(const Life& life);

}  // namespace dmprof::latency
