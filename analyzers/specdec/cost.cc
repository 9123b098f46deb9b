#include "analyzers/specdec/cost.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dmprof::specdec {
namespace {

struct Sum {
  double total = 0;
  std::uint64_t count = 0;
  void add(double value) { total += value, ++count; }
  double mean() const { return total / static_cast<double>(count); }
};

struct Batch {
  Sum one_token;                       // verify time of one-token steps
  std::map<std::uint32_t, Sum> wider;  // verify time by width
  double draft_time = 0, positions = 0;
  double plain_tokens = 0, plain_time = 0;  // without speculation
  double tokens = 0, time = 0;              // as the engine runs
  std::uint64_t drafting = 0;
};

}  // namespace

std::vector<StepSample> step_samples(const View& view, const Scope& scope) {
  std::vector<StepSample> samples;
  const auto add = [&](const Step& step, bool baseline) {
    if (step.batch == 0 || step.target_tokens == 0 || step.verify_time <= 0) return;
    StepSample sample;
    sample.batch = step.batch;
    sample.width = static_cast<std::uint32_t>(std::lround(static_cast<double>(step.target_tokens) / step.batch));
    sample.baseline = baseline;
    sample.draft_time = static_cast<double>(step.draft_time);
    sample.verify_time = static_cast<double>(step.verify_time);
    sample.duration = static_cast<double>(step.duration);
    for (const SpeculationStep& row : view.rows_of_step(step.step)) {
      // A tree's levels are drafted one after the other, its nodes of a level together.
      const std::uint32_t depth =
          row.draft_type == DraftType::tree && row.tree_depth > 0 ? row.tree_depth : row.drafted;
      sample.positions = std::max(sample.positions, depth);
      sample.emitted += row.emitted;
    }
    samples.push_back(sample);
  };
  for (const Step& step : view.steps(scope)) add(step, false);
  for (const Step& step : view.baseline_steps(scope)) add(step, true);
  return samples;
}

Costs measure_costs(std::span<const StepSample> samples) {
  std::vector<std::size_t> all(samples.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return measure_costs(samples, all);
}

Costs measure_costs(std::span<const StepSample> samples, std::span<const std::size_t> drawn) {
  Costs costs;
  const bool baselines =
      std::any_of(samples.begin(), samples.end(), [](const StepSample& sample) { return sample.baseline; });
  costs.natural_baseline = !baselines;
  std::map<std::uint32_t, Batch> batches;
  for (const std::size_t index : drawn) {
    const StepSample& sample = samples[index];
    Batch& batch = batches[sample.batch];
    const bool plain = sample.width <= 1 && sample.positions == 0;
    if (plain) batch.one_token.add(sample.verify_time);
    if (baselines ? sample.baseline : plain) batch.plain_tokens += sample.emitted, batch.plain_time += sample.duration;
    if (!sample.baseline) batch.tokens += sample.emitted, batch.time += sample.duration;
    if (sample.width > 1) batch.wider[sample.width].add(sample.verify_time);
    if (sample.positions > 0)
      batch.draft_time += sample.draft_time, batch.positions += sample.positions, ++batch.drafting;
  }
  double draft = 0, speedup = 0, speedup_weight = 0;
  std::map<std::uint32_t, Sum> verify;
  std::map<std::uint32_t, std::uint64_t> widths;
  for (const auto& [size, batch] : batches) {
    if (batch.drafting == 0) continue;
    for (const auto& [width, sum] : batch.wider) widths[width] += sum.count;
    if (batch.one_token.count == 0) continue;
    const auto weight = static_cast<double>(batch.drafting);
    const double unit = batch.one_token.mean();
    costs.one_token_steps += batch.one_token.count;
    costs.drafting_steps += batch.drafting;
    draft += weight * batch.draft_time / batch.positions / unit;
    for (const auto& [width, sum] : batch.wider) {
      verify[width].total += sum.total / unit;
      verify[width].count += sum.count;
    }
    if (batch.plain_tokens > 0 && batch.plain_time > 0 && batch.time > 0) {
      speedup += weight * (batch.tokens / batch.time) / (batch.plain_tokens / batch.plain_time);
      speedup_weight += weight;
    }
  }
  if (costs.drafting_steps > 0) costs.draft = draft / static_cast<double>(costs.drafting_steps);
  for (const auto& [width, sum] : verify) costs.verify[width] = sum.mean();
  if (speedup_weight > 0) costs.speedup = speedup / speedup_weight;
  std::uint64_t most = 0;
  for (const auto& [width, count] : widths) {
    if (count > most) most = count, costs.usual_width = width;
  }
  return costs;
}

}  // namespace dmprof::specdec
