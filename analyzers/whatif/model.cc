#include <algorithm>

#include "analyzers/whatif/predictor.h"

namespace dmprof::whatif {

Events events_needed() {
  return Events::slices | Events::requests | Events::steps | Events::speculation | Events::accesses |
         Events::prefetches | Events::transfers | Events::kernels;
}

std::vector<std::string> metrics_needed() {
  std::vector<std::string> names = {"prefetch_hit_rate"};
  for (const QuantityInfo& info : quantities()) {
    if (std::find(names.begin(), names.end(), info.metric) == names.end()) names.emplace_back(info.metric);
  }
  return names;
}

std::optional<Range> Prediction::gain(std::string_view metric) const {
  const auto figure = std::find_if(figures.begin(), figures.end(), [&](const Figure& f) { return f.metric == metric; });
  if (figure == figures.end() || !figure->predicted || !figure->recorded || *figure->recorded <= 0) return std::nullopt;
  const auto info = std::find_if(quantities().begin(), quantities().end(),
                                 [&](const QuantityInfo& one) { return metric == one.name; });
  const bool higher = info == quantities().end() || info->higher_is_better;
  const Range& p = *figure->predicted;
  if (higher) return Range{p.low / *figure->recorded, p.mid / *figure->recorded, p.high / *figure->recorded};
  if (p.low <= 0 || p.mid <= 0 || p.high <= 0) return std::nullopt;
  return Range{*figure->recorded / p.high, *figure->recorded / p.mid, *figure->recorded / p.low};
}

Model::Model(const Recording& recording, std::span<const MetricValue> recorded, std::vector<Profile> profiles)
    : predictor_(std::make_unique<Predictor>(recording, recorded, std::move(profiles))) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

Result<Prediction> Model::predict(std::span<const Setting> settings) const {
  auto asked = ask(predictor_->recording(), settings);
  if (!asked) return tl::unexpected(asked.error());
  return predictor_->answer(*asked);
}

}  // namespace dmprof::whatif
