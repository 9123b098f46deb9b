#include "analyzers/registry/catalogue.h"

#include <cstdlib>

#include <fmt/format.h>

#include "dmprof/base/suggest.h"

namespace dmprof {

void Catalogue::add(Metric metric) {
  if (metric.name.empty() || metric.unit.empty() || metric.definition.empty() || !metric.compute ||
      find(metric.name) != nullptr) {
    fmt::print(stderr, "dmprof: metric '{}' is registered twice or incomplete; this is a mistake in the program\n",
               metric.name);
    std::abort();
  }
  index_.emplace(metric.name, metrics_.size());
  metrics_.push_back(std::move(metric));
}

const Metric* Catalogue::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &metrics_[found->second];
}

std::vector<std::string> Catalogue::names() const {
  std::vector<std::string> all;
  for (const Metric& metric : metrics_) all.push_back(metric.name);
  return all;
}

Status Catalogue::check(std::span<const std::string> names) const {
  for (const std::string& name : names) {
    if (find(name) != nullptr) continue;
    const std::string hint = did_you_mean(name, this->names());
    constexpr std::size_t longest_shown = 64;
    return fail(ErrorKind::usage, fmt::format("no metric is called '{}'{}", name.substr(0, longest_shown),
                                              hint.empty() ? "; `dmprof metrics` lists them all" : hint));
  }
  return {};
}

Events Catalogue::events(std::span<const std::string> names) const {
  Events wanted = Events::none;
  for (const std::string& name : names) {
    if (const Metric* metric = find(name)) wanted = wanted | metric->events;
  }
  return wanted;
}

}  // namespace dmprof
