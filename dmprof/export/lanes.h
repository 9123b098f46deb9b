// Spreads spans over lanes so that on each lane any two are disjoint or one encloses the other.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "dmprof/store/reader.h"

namespace dmprof::exporting {

class Lanes {
 public:
  // Lane (from 0) for the span [start, end). Call with ascending start, longer spans first among equal starts. Nothing
  // when more lanes than a viewer could show would be needed.
  std::optional<std::size_t> place(TimeNs start, TimeNs end);
  // The same for a span whose parts are drawn on its lane: it shares the lane with nothing, since a span that it
  // encloses need not lie within one of its parts.
  std::optional<std::size_t> place_alone(TimeNs start, TimeNs end);
  std::size_t count() const { return open_.size(); }

 private:
  std::optional<std::size_t> place_where(TimeNs start, TimeNs end, bool nested);
  std::vector<std::vector<TimeNs>> open_;  // per lane, ends of the spans that are open, outermost first
};

}  // namespace dmprof::exporting
