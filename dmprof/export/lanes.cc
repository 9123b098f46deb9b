#include "dmprof/export/lanes.h"

namespace dmprof::exporting {

namespace {
constexpr std::size_t most_lanes = 128;
}

std::optional<std::size_t> Lanes::place(TimeNs start, TimeNs end) { return place_where(start, end, true); }

std::optional<std::size_t> Lanes::place_alone(TimeNs start, TimeNs end) { return place_where(start, end, false); }

std::optional<std::size_t> Lanes::place_where(TimeNs start, TimeNs end, bool nested) {
  for (std::size_t lane = 0; lane < open_.size(); ++lane) {
    std::vector<TimeNs>& ends = open_[lane];
    while (!ends.empty() && ends.back() <= start) ends.pop_back();
    if (ends.empty() || (nested && end <= ends.back())) {
      ends.push_back(end);
      return lane;
    }
  }
  if (open_.size() >= most_lanes) return std::nullopt;
  open_.push_back({end});
  return open_.size() - 1;
}

}  // namespace dmprof::exporting
