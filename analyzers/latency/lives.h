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
};

struct Life {
  std::optional<TimeNs> arrive, schedule, first_token, end;  // schedule: the first one
  std::vector<TimeNs> preempted;
  std::vector<Emission> emissions;  // in time order; the first holds the first token
  std::uint64_t output_tokens() const;
};

using Lives = std::map<std::uint64_t, Life>;  // by request

// Baseline steps' tokens are part of a life: the user waits for them too.
Lives lives_of(const Recording& recording);

// One entry a token after the first, ns: a step that emits four gives one gap and three zeros.
struct Gap {
  TimeNs begin = 0, end = 0;
  std::uint64_t request = 0;
};
std::vector<Gap> token_gaps(const Lives& lives);

// (last - first) / (tokens - 1), ns; nothing for fewer than two tokens.
std::optional<double> time_per_output_token(const Life& life);

}  // namespace dmprof::latency
