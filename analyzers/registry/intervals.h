// Sets of time as sorted, disjoint, non-empty half-open ranges.
#pragma once

#include <span>
#include <vector>

#include "dmprof/store/tables.h"

namespace dmprof {

using Intervals = std::vector<TimeRange>;

Intervals unite(Intervals ranges);  // any ranges, in any order
Intervals intersect(const Intervals& a, const Intervals& b);
Intervals subtract(const Intervals& a, const Intervals& b);
Intervals clip(const Intervals& a, TimeRange range);
TimeNs total(const Intervals& a);
TimeNs overlap(const Intervals& a, TimeRange range);  // time of a inside range; O(log n + hits)
bool contains(const Intervals& a, TimeNs time);

}  // namespace dmprof
