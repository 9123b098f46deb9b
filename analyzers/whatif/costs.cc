#include "analyzers/whatif/costs.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "dmprof/event/describe.h"

namespace dmprof::whatif {
namespace {

constexpr std::uint32_t deepest = 1024;  // a hostile row must not decide how long anything takes

std::uint32_t depth_of(const SpeculationStep& row) {
  return std::min(row.draft_type == DraftType::tree && row.tree_depth > 0 ? row.tree_depth : row.drafted, deepest);
}

std::vector<std::uint32_t> draft_lengths(const View& view, std::uint64_t step) {
  std::vector<std::uint32_t> lengths;
  for (const SpeculationStep& row : view.rows_of_step(step)) {
    if (const std::uint32_t depth = depth_of(row); depth > 0) lengths.push_back(depth);
  }
  return lengths;
}

struct Life {
  std::optional<TimeNs> arrive, gone;
  TimeNs first = 0;
  std::uint32_t prompt = 0, decoded = 0;
};

// Users of a closed load, 0 for an open one. An arrival that falls on the end of another request was caused by it:
// somebody who waits for an answer before asking again. In a closed load only the first requests come by themselves.
std::uint32_t closed_users(const std::vector<Life>& lives) {
  std::vector<TimeNs> ends;
  double residence = 0;
  for (const Life& life : lives) {
    if (!life.gone || !life.arrive) continue;
    ends.push_back(*life.gone);
    residence += static_cast<double>(*life.gone - *life.arrive);
  }
  if (ends.size() < 2) return 0;
  std::sort(ends.begin(), ends.end());
  const auto close = static_cast<TimeNs>(0.01 * residence / static_cast<double>(ends.size()));
  std::size_t next = 0;
  std::uint32_t caused = 0, first = 0, late = 0;
  for (const Life& life : lives) {
    if (!life.arrive) return 0;
    while (next < ends.size() && ends[next] + close < *life.arrive) ++next;
    if (next < ends.size() && ends[next] <= *life.arrive) {
      ++caused, ++next;
    } else {
      ++(*life.arrive < ends.front() ? first : late);
    }
  }
  return caused >= 2 && late * 20 <= caused ? std::max(first, 1u) : 0;
}

}  // namespace

double draft_rounds(const std::vector<std::uint32_t>& lengths, const DraftSchedule& schedule) {
  if (lengths.empty()) return 0;
  const double longest = *std::max_element(lengths.begin(), lengths.end());
  if (schedule.engines == 0 || lengths.size() <= schedule.engines) return longest;
  if (schedule.interleave) {
    // One token a turn: the engines stay busy until fewer chains than engines are left.
    std::vector<std::uint32_t> left = lengths;
    double rounds = 0;
    std::size_t turn = 0, remaining = 0;
    for (const std::uint32_t length : left) remaining += length;
    while (remaining > 0) {
      std::size_t served = 0;
      for (std::size_t looked = 0; looked < left.size() && served < schedule.engines; ++looked) {
        std::uint32_t& chain = left[turn];
        turn = (turn + 1) % left.size();
        if (chain == 0) continue;
        --chain, --remaining, ++served;
      }
      ++rounds;
    }
    return rounds;
  }
  std::vector<double> free(schedule.engines, 0);
  for (const std::uint32_t length : lengths) *std::min_element(free.begin(), free.end()) += length;
  return *std::max_element(free.begin(), free.end());
}

StepCosts measure_costs(const View& view, const DraftSchedule& schedule) {
  StepCosts costs;
  struct Sample {
    double tokens, rounds, batch, duration;
  };
  std::vector<Sample> samples;
  double other = 0;
  const auto learn = [&](const Step& step, bool baseline) {
    if (step.batch == 0 || step.target_tokens == 0 || step.verify_time <= 0) return;
    const auto draft = static_cast<double>(step.draft_time), verify = static_cast<double>(step.verify_time);
    costs.verify.add(step.target_tokens, verify);
    const double rounds = draft_rounds(draft_lengths(view, step.step), schedule);
    if (rounds > 0) costs.draft.add(step.batch, draft / rounds, rounds);
    if (baseline) return;
    const auto duration = static_cast<double>(step.duration);
    costs.draft_time += draft, costs.verify_time += verify;
    other += std::max(0.0, duration - draft - verify);
    samples.push_back({static_cast<double>(step.target_tokens), rounds, static_cast<double>(step.batch), duration});
  };
  for (const Step& step : view.steps({})) learn(step, false);
  for (const Step& step : view.baseline_steps({})) learn(step, true);
  costs.steps = samples.size();
  if (samples.empty()) return costs;
  costs.other = other / static_cast<double>(samples.size());
  for (const Sample& sample : samples) {
    const double modelled = costs.other + costs.verify.at(sample.tokens) + sample.rounds * costs.draft.at(sample.batch);
    costs.residuals.push_back(modelled > 0 ? sample.duration / modelled : 1);
  }
  for (const Step& step : view.steps({.phase = Phase::prefill}))
    costs.prefill.add(step.target_tokens, static_cast<double>(step.duration));
  return costs;
}

Load measure_load(const View& view) {
  const Recording& recording = view.recording();
  std::map<std::uint64_t, Life> by_request;
  for (const RequestEvent& event : recording.requests) {
    Life& life = by_request[event.request];
    if (event.point == RequestPoint::arrive) {
      life.arrive = event.time;
      life.prompt = static_cast<std::uint32_t>(std::min<std::uint64_t>(event.tokens, 1u << 24));
    }
    if (event.point == RequestPoint::end || event.point == RequestPoint::fail) life.gone = event.time;
  }
  for (const SpeculationStep& row : recording.speculation) {
    const Step* step = view.find_step(row.step);
    if (step != nullptr && step->phase == Phase::prefill && row.drafted == 0) continue;
    if (row.request == 0 && row.cut == StepCut::baseline) continue;  // nobody's: measured beside the requests
    Life& life = by_request[row.request];
    if (life.decoded == 0) life.first = row.time;
    life.decoded += std::min(row.emitted, std::min(row.verified, deepest) + 1);
  }
  Load load;
  std::vector<Life> lives;
  bool all_arrive = true;
  for (const auto& [id, life] : by_request) {
    if (life.decoded == 0) continue;
    lives.push_back(life);
    all_arrive = all_arrive && life.arrive.has_value();
  }
  const auto came = [](const Life& life) { return life.arrive.value_or(life.first); };
  std::stable_sort(lives.begin(), lives.end(), [&](const Life& a, const Life& b) { return came(a) < came(b); });
  for (const Life& life : lives)
    load.requests.push_back({static_cast<double>(came(life) - came(lives.front())), life.prompt, life.decoded});
  for (const Step& step : view.steps({})) {
    if (step.waiting > 0) load.most_batch = std::max(load.most_batch, step.batch);
  }
  load.users = closed_users(lives);
  if (!all_arrive && load.users == 0) {
    // Nobody's arrival is known: as many at once as the steps show, one after the other.
    double weighted = 0, time = 0;
    for (const Step& step : view.steps({}))
      weighted += static_cast<double>(step.batch) * static_cast<double>(step.duration),
          time += static_cast<double>(step.duration);
    load.users = time > 0 ? static_cast<std::uint32_t>(std::max(1.0, std::round(weighted / time))) : 1;
  }
  return load;
}

}  // namespace dmprof::whatif
