#include "analyzers/registry/catalogue.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include <fmt/format.h>

namespace dmprof {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

constexpr std::size_t longest_name = 64;  // longer input is no typo of ours, and the distance would cost its square

}  // namespace

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

std::optional<std::string> Catalogue::nearest(std::string_view name) const {
  if (name.empty() || name.size() > longest_name) return std::nullopt;
  const Metric* best = nullptr;
  std::size_t distance = 0;
  for (const Metric& metric : metrics_) {
    const std::size_t candidate = edit_distance(name, metric.name);
    if (best == nullptr || candidate < distance) best = &metric, distance = candidate;
  }
  if (best == nullptr || distance > std::max<std::size_t>(2, best->name.size() / 3)) return std::nullopt;
  return best->name;
}

Status Catalogue::check(std::span<const std::string> names) const {
  for (const std::string& name : names) {
    if (find(name) != nullptr) continue;
    const std::optional<std::string> near = nearest(name);
    return fail(ErrorKind::usage,
                fmt::format("no metric is called '{}'; {}", name.substr(0, longest_name),
                            near ? fmt::format("did you mean '{}'?", *near) : "`dmprof metrics` lists them all"));
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
