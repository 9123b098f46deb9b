// Acceptance by sequence length, class, draft type and uptime, and its trend.
#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "analyzers/registry/reasons.h"
#include "analyzers/registry/statistics.h"
#include "analyzers/specdec/acceptance.h"
#include "analyzers/specdec/specdec.h"

namespace dmprof {
namespace {

constexpr std::uint32_t first_bucket = 32;  // tokens; later buckets double
constexpr std::uint64_t fewest_for_trend = 50;
constexpr double hour = 3600e9;  // ns

struct Classes : std::unordered_map<std::uint64_t, NameId> {};  // by request

struct Tally {
  std::uint64_t accepted = 0, verified = 0;
};

// Lower edge of the length bucket.
std::uint32_t bucket(std::uint32_t position) {
  std::uint64_t edge = first_bucket;
  if (position < edge) return 0;
  while (edge * 2 <= position) edge *= 2;
  return static_cast<std::uint32_t>(edge);
}

std::string bucket_name(std::uint32_t edge) {
  return fmt::format("length {}-{}", edge, edge == 0 ? first_bucket - 1 : edge * std::uint64_t{2} - 1);
}

std::string_view draft_name(DraftType type) {
  switch (type) {
    case DraftType::model:
      return "model";
    case DraftType::ngram:
      return "ngram";
    case DraftType::head:
      return "head";
    case DraftType::tree:
      return "tree";
    case DraftType::none:
      break;
  }
  return "unnamed";
}

MetricValue by_length(const View& view, const Scope& scope) {
  const Classes& class_of = view.shared<Classes>([&] {
    Classes classes;
    for (const RequestEvent& event : view.recording().requests) {
      if (event.request_class != 0) classes[event.request] = event.request_class;
    }
    return classes;
  });
  std::vector<SpeculationStep> rows = view.speculation(scope);
  std::erase_if(rows, [](const SpeculationStep& row) { return !specdec::drafting(row); });
  if (rows.empty()) return unavailable(reasons::no_draft(view));
  const TimeNs begin = rows.front().time, span = std::max<TimeNs>(1, rows.back().time - begin);
  std::map<std::uint32_t, Tally> lengths;
  std::map<std::string, Tally> others;
  const auto count = [](Tally& tally, const SpeculationStep& row) {
    tally.accepted += row.accepted, tally.verified += row.verified;
  };
  for (const SpeculationStep& row : rows) {
    count(lengths[bucket(row.position)], row);
    count(others[fmt::format("draft {}", draft_name(row.draft_type))], row);
    const auto quarter = std::min<TimeNs>(3, (row.time - begin) / std::max<TimeNs>(1, span / 4));
    count(others[fmt::format("uptime quarter {}", quarter + 1)], row);
    if (const auto known = class_of.find(row.request); known != class_of.end()) {
      count(others[fmt::format("class {}", view.recording().name(known->second))], row);
    }
  }
  MetricValue value;
  value.status = ValueStatus::ok;
  value.reason = "temperature is not part of a recording's events, so there is no breakdown by it";
  const auto put = [&](std::string name, const Tally& tally) {
    value.parts.push_back({std::move(name), static_cast<double>(tally.accepted) / static_cast<double>(tally.verified),
                           tally.verified, false});
  };
  for (const auto& [edge, tally] : lengths) put(bucket_name(edge), tally), value.samples += tally.verified;
  for (const auto& [name, tally] : others) put(name, tally);
  return value;
}

struct Point {
  double at = 0, accepted = 0, verified = 0;
};

// Weighted least squares of accepted/verified over `at`.
template <class Indices>
std::optional<double> slope(const std::vector<Point>& points, const Indices& indices) {
  double weight = 0, at = 0, accepted = 0;
  for (const std::size_t i : indices)
    weight += points[i].verified, at += points[i].verified * points[i].at, accepted += points[i].accepted;
  double above = 0, below = 0;
  for (const std::size_t i : indices) {
    const double distance = points[i].at - at / weight;
    above += distance * (points[i].accepted - points[i].verified * accepted / weight);
    below += points[i].verified * distance * distance;
  }
  if (below <= 0) return std::nullopt;
  return above / below;
}

struct Trend {
  std::string lacking;  // why there is none, "" when there is
  double slope = 0, span = 0;
  std::uint64_t verified = 0;
  std::optional<ConfidenceInterval> interval;  // of the slope
};

// `rows` in ascending order of `at`.
template <class At>
Trend trend_of(const View& view, const std::vector<SpeculationStep>& rows, const char* what, At&& at) {
  Trend trend;
  std::vector<Point> points;
  std::uint64_t drafting_steps = 0;
  std::optional<double> begin;
  const std::size_t per_point = std::max<std::size_t>(1, rows.size() / 512);  // bounds the bootstrap's work
  std::size_t in_last = per_point;
  for (const SpeculationStep& row : rows) {
    if (!specdec::drafting(row)) continue;
    if (!begin) begin = at(row);
    if (in_last == per_point) points.push_back({}), in_last = 0;
    Point& point = points.back();
    trend.span = at(row) - *begin;
    point.at = (point.at * static_cast<double>(in_last) + trend.span) / static_cast<double>(in_last + 1);
    point.accepted += row.accepted, point.verified += row.verified;
    trend.verified += row.verified;
    ++in_last, ++drafting_steps;
  }
  if (points.empty()) {
    trend.lacking = reasons::no_draft(view);
  } else if (drafting_steps < fewest_for_trend) {
    trend.lacking = fmt::format("only {} drafting steps; a slope needs {}", drafting_steps, fewest_for_trend);
  }
  if (!trend.lacking.empty()) return trend;
  std::vector<std::size_t> all(points.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  const std::optional<double> whole = slope(points, all);
  if (!whole) {
    trend.lacking = fmt::format("all drafting steps carry the same {}", what);
    return trend;
  }
  trend.slope = *whole;
  trend.interval = bootstrap(points.size(), [&](std::span<const std::size_t> drawn) { return slope(points, drawn); });
  return trend;
}

Trend by_uptime(const View& view, const Scope& scope) {
  return trend_of(view, view.speculation(scope), "time",
                  [](const SpeculationStep& row) { return static_cast<double>(row.time) / hour; });
}

Trend by_position_in_text(const View& view, const Scope& scope) {
  std::vector<SpeculationStep> rows = view.speculation(scope);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const SpeculationStep& a, const SpeculationStep& b) { return a.position < b.position; });
  return trend_of(view, rows, "length", [](const SpeculationStep& row) { return static_cast<double>(row.position); });
}

MetricValue trend(const View& view, const Scope& scope) {
  const Trend found = by_uptime(view, scope);
  if (!found.lacking.empty()) return unavailable(found.lacking);
  MetricValue value = scalar(found.slope, found.verified);
  value.interval = found.interval;
  return value;
}

// How far acceptance falls from one end to the other; 0 where the slope's interval does not exclude that it holds.
MetricValue fall(const Trend& found) {
  if (!found.lacking.empty()) return unavailable(found.lacking);
  const bool shown = found.interval && found.interval->high < 0;
  MetricValue value = scalar(shown ? std::min(1.0, -found.slope * found.span) : 0.0, found.verified);
  if (!shown) value.reason = "no fall is shown: the slope's interval reaches 0 or above";
  return value;
}

MetricValue prefix_ratio(const View& view, const Scope& scope) {
  std::map<std::uint64_t, bool> cached;
  for (const RequestEvent& event : view.recording().requests) {
    if (event.point == RequestPoint::schedule && !cached.contains(event.request))
      cached[event.request] = event.cached_tokens > 0;
  }
  RatioEstimate with, without;
  for (const SpeculationStep& row : view.speculation(scope)) {
    const auto request = cached.find(row.request);
    if (!specdec::drafting(row) || request == cached.end()) continue;
    (request->second ? with : without).add(row.accepted, row.verified, row.verified);
  }
  if (with.denominator() <= 0 || without.denominator() <= 0 || without.ratio() <= 0)
    return unavailable("needs drafting steps of requests with cached prompt tokens, and of requests without");
  return scalar(with.ratio() / without.ratio(), with.samples() + without.samples());
}

}  // namespace

void register_acceptance_breakdowns(Catalogue& catalogue) {
  const Events rows = Events::speculation | Events::steps;
  catalogue.add(
      {.name = "acceptance_by_length",
       .unit = "ratio",
       .definition =
           "accepted / verified draft tokens by sequence length before the step, and by request class, draft type and "
           "quarter of the run",
       .needs = "speculation steps with a draft",
       .events = rows | Events::requests,
       .kind = MetricKind::array,
       .direction = Direction::higher_is_better,
       .by = {By::position, By::request, By::window},
       .keeps_warm_up = true,
       .compute = by_length});
  catalogue.add(
      {.name = "acceptance_trend",
       .unit = "1/h",
       .definition =
           "slope of accepted / verified draft tokens over uptime, weighted least squares; 0 within its interval means "
           "no trend is shown",
       .needs = "50 drafting steps",
       .events = rows,
       .direction = Direction::higher_is_better,
       .keeps_warm_up = true,
       .compute = trend});
  const auto add = [&](const char* name, const char* unit, const char* definition, const char* needs,
                       std::function<MetricValue(const View&, const Scope&)> compute) {
    catalogue.add({.name = name,
                   .unit = unit,
                   .definition = definition,
                   .needs = needs,
                   .events = rows | Events::requests,
                   .direction = Direction::lower_is_better,
                   .keeps_warm_up = true,
                   .compute = std::move(compute)});
  };
  add("acceptance_fall", "ratio",
      "how far accepted / verified falls from the recording's start to its end by its slope (acceptance_trend); 0 "
      "where "
      "the slope's interval does not exclude that it holds",
      "50 drafting steps", [](const View& view, const Scope& scope) { return fall(by_uptime(view, scope)); });
  add("acceptance_fall_by_length", "ratio",
      "how far accepted / verified falls from the shortest to the longest sequence by its slope; 0 where the slope's "
      "interval does not exclude that it holds",
      "50 drafting steps at different lengths",
      [](const View& view, const Scope& scope) { return fall(by_position_in_text(view, scope)); });
  add("acceptance_prefix_ratio", "x",
      "accepted / verified of requests whose prompt was partly cached / of requests whose was not",
      "request events with cached tokens, for some requests and not for others", prefix_ratio);
}

}  // namespace dmprof
