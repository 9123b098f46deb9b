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
        life.end = life.gone = event.time;
        break;
      case RequestPoint::fail:  // a request that failed has no latency, but it is no longer there
        life.gone = event.time;
        break;
    }
  }
  for (const SpeculationStep& row : recording.speculation) {
    if (row.request != 0 && row.emitted > 0)
      lives[row.request].emissions.push_back({row.time, row.emitted, row.cut == StepCut::baseline});
  }
  for (auto& [request, life] : lives) {
    if (!life.first_token) continue;
    // Engines differ in whether the pass that ends the prompt is a speculation step too: if not, its token is added
    // here.
    if (life.emissions.empty() || life.emissions.front().time > *life.first_token) {
      life.emissions.insert(life.emissions.begin(), {*life.first_token, 1, false});
    }
  }
  return lives;
}

void append_gaps(std::uint64_t request, const Life& life, std::vector<Gap>& gaps) {
  for (std::size_t i = 0; i < life.emissions.size(); ++i) {
    const Emission& emission = life.emissions[i];
    if (i > 0) gaps.push_back({life.emissions[i - 1].time, emission.time, request, emission.baseline});
    for (std::uint32_t token = 1; token < emission.tokens; ++token)
      gaps.push_back({emission.time, emission.time, request, emission.baseline});
  }
}

std::vector<Gap> token_gaps(const Lives& lives) {
  std::vector<Gap> gaps;
  for (const auto& [request, life] : lives) append_gaps(request, life, gaps);
  return gaps;
}

std::optional<double> time_per_output_token(const Life& life) {
  if (life.emissions.empty()) return std::nullopt;
  std::uint64_t tokens = std::max(life.emissions.front().tokens, 1u) - 1;
  TimeNs time = 0;
  for (std::size_t i = 1; i < life.emissions.size(); ++i) {
    if (life.emissions[i].baseline) continue;
    time += life.emissions[i].time - life.emissions[i - 1].time;
    tokens += life.emissions[i].tokens;
  }
  if (tokens == 0) return std::nullopt;
  return static_cast<double>(time) / static_cast<double>(tokens);
}

TimeNs baseline_time(const Life& life) {
  TimeNs time = 0;
  for (std::size_t i = 1; i < life.emissions.size(); ++i) {
    if (life.emissions[i].baseline) time += life.emissions[i].time - life.emissions[i - 1].time;
  }
  return time;
}

}  // namespace dmprof::latency
