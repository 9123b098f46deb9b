#include "analyzers/latency/lives.h"

#include <algorithm>

namespace dmprof::latency {

std::uint64_t Life::output_tokens() const {
  std::uint64_t sum = 0;
  for (const Emission& emission : emissions) sum += emission.tokens;
  return sum;
}

Lives lives_of(const Recording& recording) {
  Lives lives;
  for (const RequestEvent& event : recording.requests) {
    Life& life = lives[event.request];
    switch (event.point) {
      case RequestPoint::arrive:
        life.arrive = event.time;
        break;
      case RequestPoint::schedule:
        if (!life.schedule) life.schedule = event.time;
        break;
      case RequestPoint::first_token:
        if (!life.first_token) life.first_token = event.time;
        break;
      case RequestPoint::preempt:
        life.preempted.push_back(event.time);
        break;
      case RequestPoint::end:
        life.end = event.time;
        break;
      case RequestPoint::fail:
        break;  // a request that failed has no latency
    }
  }
  for (const SpeculationStep& row : recording.speculation) {
    if (row.request != 0 && row.emitted > 0) lives[row.request].emissions.push_back({row.time, row.emitted});
  }
  for (auto& [request, life] : lives) {
    if (!life.first_token) continue;
    // Engines differ in whether the pass that ends the prompt is a speculation step too: if not, its token is added
    // here.
    if (life.emissions.empty() || life.emissions.front().time > *life.first_token) {
      life.emissions.insert(life.emissions.begin(), {*life.first_token, 1});
    }
  }
  return lives;
}

std::vector<Gap> token_gaps(const Lives& lives) {
  std::vector<Gap> gaps;
  for (const auto& [request, life] : lives) {
    for (std::size_t i = 0; i < life.emissions.size(); ++i) {
      const TimeNs time = life.emissions[i].time;
      if (i > 0) gaps.push_back({life.emissions[i - 1].time, time, request});
      for (std::uint32_t token = 1; token < life.emissions[i].tokens; ++token) gaps.push_back({time, time, request});
    }
  }
  return gaps;
}

std::optional<double> time_per_output_token(const Life& life) {
  const std::uint64_t tokens = life.output_tokens();
  if (tokens < 2) return std::nullopt;
  return static_cast<double>(life.emissions.back().time - life.emissions.front().time) /
         static_cast<double>(tokens - 1);
}

}  // namespace dmprof::latency
