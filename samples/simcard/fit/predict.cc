#include "samples/simcard/fit/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "samples/simcard/fit/program.h"
#include "samples/simcard/twin/engine_model.h"

namespace dmprof::twin {
namespace {

bool same(const Settings& a, const Settings& b) {
  const bool both_without = (a.draft.empty() || a.lookahead == 0) && (b.draft.empty() || b.lookahead == 0);
  return (both_without || (a.draft == b.draft && a.lookahead == b.lookahead)) && a.resident == b.resident &&
         a.cache_policy == b.cache_policy && a.prefetch_distance == b.prefetch_distance && a.batch == b.batch &&
         a.max_concurrent == b.max_concurrent && a.prefill_chunk == b.prefill_chunk &&
         a.baseline_every == b.baseline_every;
}

double residual_of(const Fit& fit, const std::string& figure) {
  double worst = 0;
  for (const FittedRecording& each : fit.recordings) {
    const auto recorded = each.recorded.find(figure), simulated = each.simulated.find(figure);
    if (recorded == each.recorded.end() || simulated == each.simulated.end() || recorded->second == 0) continue;
    worst = std::max(worst, std::abs(simulated->second / recorded->second - 1));
  }
  return worst;
}

const DraftProfile* profile_of(const Fit& fit, const Settings& settings) {
  if (settings.lookahead == 0) return nullptr;
  for (const DraftProfile& profile : fit.description.drafts) {
    if (profile.program.name == settings.draft) return &profile;
  }
  return nullptr;
}

double known_share(const DraftProfile& profile) {
  double known = 0, all = 0;
  for (const auto& matches : profile.matches) {
    for (const Match match : matches) known += match != Match::unknown;
    all += static_cast<double>(matches.size());
  }
  return all > 0 ? known / all : 0;
}

std::uint32_t most_tokens(const CostCurve& curve) { return curve.points.empty() ? 0 : curve.points.back().tokens; }

std::vector<std::string> assumptions_of(const Fit& fit, const Question& question) {
  const Settings& settings = question.settings;
  const Settings& base = fit.base();
  std::vector<std::string> said;
  said.push_back("the recorded requests are replayed on the recorded machine with its recorded load");
  if (const DraftProfile* profile = profile_of(fit, settings)) {
    if (fit.description.greedy) {
      said.push_back(fmt::format(
          "greedy text is the same under all settings: the draft's verdict is recorded for {:.0f} % of the positions, "
          "the rest are drawn, given the verdict before ({:.3f} behind a right one, {:.3f} behind a wrong one)",
          100 * known_share(*profile), profile->after_right, profile->after_wrong));
      if (settings.lookahead > profile->acceptance.size()) {
        said.push_back(fmt::format(
            "extrapolated: positions {} to {} of a draft were not recorded as such; their verdicts are the text's",
            profile->acceptance.size() + 1, settings.lookahead));
      }
    } else {
      said.push_back("sampled text differs between settings: every verdict is drawn from the acceptance curve");
    }
    if (!fit.description.greedy && settings.lookahead > profile->acceptance.size()) {
      said.push_back(fmt::format(
          "extrapolated: positions {} to {} of a draft were not recorded; they take the acceptance of position {}",
          profile->acceptance.size() + 1, settings.lookahead, profile->acceptance.size()));
    }
  } else {
    said.push_back("without speculation: the target's pass over one token");
  }
  if (settings.prefetch_distance != base.prefetch_distance) {
    said.push_back("extrapolated: looking ahead costs in proportion to the distance");
  }
  const std::uint32_t batch =
      settings.max_concurrent == 0 ? settings.batch : std::min(settings.batch, settings.max_concurrent);
  const std::uint32_t tokens = batch * ((profile_of(fit, settings) == nullptr ? 0 : settings.lookahead) + 1);
  std::uint32_t seen = 0;
  for (const NamedCost& cost : fit.description.target.costs) seen = std::max(seen, most_tokens(cost.curve));
  if (tokens > seen) {
    said.push_back(fmt::format("extrapolated: a pass over {} tokens; the largest recorded has {}", tokens, seen));
  }
  if (question.other_link) said.push_back("extrapolated: threads come as late as they came with the recorded link");
  said.push_back("attention costs what it cost at the recorded lengths");
  return said;
}

}  // namespace

Result<Figures> simulate_figures(const Description& description, const Settings& settings, std::vector<Figures>* runs) {
  std::map<std::string, std::vector<double>> samples;
  for (std::uint64_t seed = 1; seed <= kPredictionSeeds; ++seed) {
    const auto trace = simulate(description, settings, seed);
    if (!trace) return tl::unexpected(trace.error());
    Figures figures = figures_of(to_recording(*trace));
    for (const auto& [name, value] : figures) samples[name].push_back(value);
    if (runs != nullptr) runs->push_back(std::move(figures));
  }
  Figures medians;
  for (auto& [name, values] : samples) medians[name] = median_of(std::move(values));
  return medians;
}

Result<Prediction> predict(const Fit& fit, const Question& question) {
  const Settings& settings = question.settings;
  std::vector<Figures> runs;
  Description description = fit.description;
  description.link = question.link;
  const auto medians = simulate_figures(description, settings, &runs);
  if (!medians) return tl::unexpected(medians.error());
  for (const double chance : {0.0, 1.0}) {
    for (DraftProfile& profile : description.drafts) profile.after_right = profile.after_wrong = chance;
    const auto bound = simulate(description, settings, 1);
    if (!bound) return tl::unexpected(bound.error());
    if (description.greedy) runs.push_back(figures_of(to_recording(*bound)));
  }
  Prediction prediction;
  prediction.settings = settings;
  for (const FittedRecording& each : fit.recordings)
    prediction.profiled = prediction.profiled || (!question.other_link && same(each.settings, settings));
  for (const FigureInfo& info : figure_list()) {
    const auto found = medians->find(info.name);
    if (found == medians->end()) continue;
    Predicted predicted{info.name, info.unit, found->second, found->second, found->second};
    for (const Figures& run : runs) {
      const auto value = run.find(info.name);
      if (value == run.end()) continue;
      predicted.low = std::min(predicted.low, value->second);
      predicted.high = std::max(predicted.high, value->second);
    }
    const double residual = residual_of(fit, info.name);
    predicted.low = std::max(0.0, predicted.low - residual * predicted.value);
    predicted.high += residual * predicted.value;
    if (info.unit == "ratio") predicted.high = std::min(predicted.high, 1.0);
    prediction.figures.push_back(predicted);
  }
  prediction.assumptions = assumptions_of(fit, question);
  return prediction;
}

}  // namespace dmprof::twin
