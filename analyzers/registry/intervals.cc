#include "analyzers/registry/intervals.h"

#include <algorithm>

namespace dmprof {
namespace {

// First range that ends after `time`.
auto first_after(const Intervals& a, TimeNs time) {
  return std::partition_point(a.begin(), a.end(), [time](const TimeRange& range) { return range.end <= time; });
}

}  // namespace

Intervals unite(Intervals ranges) {
  std::erase_if(ranges, [](const TimeRange& range) { return range.begin >= range.end; });
  std::sort(ranges.begin(), ranges.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
  std::size_t kept = 0;
  for (const TimeRange& range : ranges) {
    if (kept > 0 && range.begin <= ranges[kept - 1].end) {
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
  return ranges;
}

Intervals intersect(const Intervals& a, const Intervals& b) {
  Intervals both;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    const TimeRange common{std::max(i->begin, j->begin), std::min(i->end, j->end)};
    if (common.begin < common.end) both.push_back(common);
    if (i->end < j->end) {
      ++i;
    } else {
      ++j;
    }
  }
  return both;
}

Intervals subtract(const Intervals& a, const Intervals& b) {
  Intervals left;
  auto j = b.begin();
  for (TimeRange range : a) {
    while (j != b.end() && j->end <= range.begin) ++j;
    for (auto k = j; k != b.end() && k->begin < range.end; ++k) {
      if (k->begin > range.begin) left.push_back({range.begin, k->begin});
      range.begin = std::max(range.begin, k->end);
      if (range.begin >= range.end) break;
    }
    if (range.begin < range.end) left.push_back(range);
  }
  return left;
}

Intervals clip(const Intervals& a, TimeRange range) {
  if (range.begin >= range.end) return {};
  return intersect(a, {range});
}

TimeNs total(const Intervals& a) {
  TimeNs sum = 0;
  for (const TimeRange& range : a) sum += range.end - range.begin;
  return sum;
}

TimeNs overlap(const Intervals& a, TimeRange range) {
  TimeNs sum = 0;
  for (auto i = first_after(a, range.begin); i != a.end() && i->begin < range.end; ++i) {
    sum += std::max<TimeNs>(0, std::min(i->end, range.end) - std::max(i->begin, range.begin));
  }
  return sum;
}

bool contains(const Intervals& a, TimeNs time) {
  const auto i = first_after(a, time);
  return i != a.end() && i->begin <= time;
}

}  // namespace dmprof
