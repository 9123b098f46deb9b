#include "dmprof/experiment/compare.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace dmprof::experiment {

namespace {

constexpr std::array<std::size_t, 3> looks = {7, 11, 15};
constexpr double confidence = 0.98;
constexpr double negligible = 0.02;

using Pair = std::pair<Measurement, Measurement>;  // before, after

bool is_ratio(double before, double after) {
  return std::isfinite(before) && std::isfinite(after) && before > 0 && after >= 0;
}

// Metrics that every run had.
std::map<std::string, std::vector<double>> common_ratios(const std::vector<Pair>& pairs) {
  std::map<std::string, std::vector<double>> ratios;
  for (const auto& [before, after] : pairs) {
    for (const auto& [name, value] : before.values) {
      const auto other = after.values.find(name);
      if (other != after.values.end() && is_ratio(value, other->second)) ratios[name].push_back(other->second / value);
    }
  }
  std::erase_if(ratios, [&](const auto& entry) { return entry.second.size() != pairs.size(); });
  return ratios;
}

std::map<std::string, double> medians(const std::vector<Pair>& pairs, Measurement Pair::*side) {
  std::map<std::string, std::vector<double>> columns;
  for (const Pair& pair : pairs) {
    for (const auto& [name, value] : (pair.*side).values) {
      if (std::isfinite(value)) columns[name].push_back(value);
    }
  }
  std::map<std::string, double> result;
  for (auto& [name, values] : columns) result[name] = median_interval(std::move(values), 0).mid;
  return result;
}

Verdict judge(const Estimate& ratio, bool more_is_better, bool exact) {
  const double least = exact ? 1e-9 : 0;  // rounding of two equal runs
  if (ratio.low > 1 + least) return more_is_better ? Verdict::confirmed : Verdict::worse;
  if (ratio.high < 1 - least) return more_is_better ? Verdict::worse : Verdict::confirmed;
  return Verdict::no_effect;
}

bool settled(const Estimate& ratio) {
  return ratio.low > 1 || ratio.high < 1 || (ratio.low > 1 - negligible && ratio.high < 1 + negligible);
}

Result<Pair> run_pair(const Variant& before, const Variant& after, bool before_first, const Objective& objective,
                      const Runner& run) {
  Pair pair;
  for (const bool is_before : {before_first, !before_first}) {
    const Variant& variant = is_before ? before : after;
    auto measured = run(variant);
    if (!measured) return tl::unexpected(measured.error());
    if (const auto value = measured->values.find(objective.metric);
        value == measured->values.end() || !std::isfinite(value->second)) {
      return fail(ErrorKind::cannot_answer,
                  fmt::format("the run with {} did not measure {}, so there is nothing to compare", variant.name,
                              objective.metric));
    }
    (is_before ? pair.first : pair.second) = std::move(*measured);
  }
  return pair;
}

}  // namespace

std::string_view to_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::confirmed:
      return "confirmed";
    case Verdict::worse:
      return "worse";
    case Verdict::no_effect:
      break;
  }
  return "no effect";
}

Result<Comparison> compare(const Variant& before, const Variant& after, const Objective& objective, const Runner& run,
                           const CompareOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  Comparison result;
  result.objective = objective;
  std::vector<Pair> pairs;
  for (const std::size_t look : looks) {
    while (pairs.size() < look) {
      if (options.progress) options.progress(pairs.size() + 1, looks.back());
      auto pair = run_pair(before, after, pairs.size() % 2 == 0, objective, run);
      if (!pair) return tl::unexpected(pair.error());
      pairs.push_back(std::move(*pair));
      result.exact = pairs.size() == 2 && pairs[0].first.virtual_time && pairs[0].second.virtual_time &&
                     pairs[0].first.values == pairs[1].first.values && pairs[0].second.values == pairs[1].second.values;
      if (result.exact) break;
    }
    result.ratios.clear();
    for (auto& [name, ratios] : common_ratios(pairs)) result.ratios[name] = median_interval(ratios, confidence);
    const bool late = std::chrono::steady_clock::now() - started > options.budget;
    const auto found = result.ratios.find(objective.metric);
    if (result.exact || late || (found != result.ratios.end() && settled(found->second))) break;
  }
  const auto found = result.ratios.find(objective.metric);
  if (found == result.ratios.end()) {
    return fail(ErrorKind::cannot_answer,
                fmt::format("{} was 0 in a run as recorded, so there is no ratio to speak of", objective.metric));
  }
  result.pairs = pairs.size();
  result.verdict = judge(found->second, objective.more_is_better, result.exact);
  result.before = medians(pairs, &Pair::first);
  result.after = medians(pairs, &Pair::second);
  return result;
}

}  // namespace dmprof::experiment
