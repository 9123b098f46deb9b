#include "samples/simcard/speculation/fitted_acceptance.h"

#include <algorithm>

#include "dmprof/workload/portable_math.h"
#include "samples/simcard/fit/acceptance.h"

namespace dmprof::simcard {
namespace {

constexpr std::uint64_t kFewest = 200;  // verdicts; the figure's standard error is then below 4 %

double share(const twin::AcceptanceCell& cell) {
  return static_cast<double>(cell.accepted) / static_cast<double>(cell.reached);
}

std::vector<double> shares(const std::vector<twin::AcceptanceCell>& cells) {
  std::vector<double> all;
  for (const twin::AcceptanceCell& cell : cells) {
    if (cell.reached == 0) break;
    all.push_back(share(cell));
  }
  return all;
}

FittedAcceptance::Draft draft_of(const twin::DraftCurve& curve, double billions) {
  FittedAcceptance::Draft draft;
  draft.billions = billions;
  draft.by_position = shares(curve.counts.by_position);
  draft.length_from = curve.counts.length_from;
  for (const std::vector<twin::AcceptanceCell>& cells : curve.counts.by_length) {
    std::vector<double>& bucket = draft.by_length.emplace_back(draft.by_position);
    for (std::size_t k = 0; k < std::min(cells.size(), bucket.size()); ++k) {
      if (cells[k].reached >= kFewest) bucket[k] = share(cells[k]);
    }
  }
  return draft;
}

double acceptance(const FittedAcceptance::Draft& draft, std::uint32_t position, std::uint64_t length) {
  const auto after = std::upper_bound(draft.length_from.begin(), draft.length_from.end(), length);
  const std::vector<double>& of_length = draft.length_from.empty()
                                             ? draft.by_position
                                             : draft.by_length[static_cast<std::size_t>(
                                                   std::max<std::ptrdiff_t>(after - draft.length_from.begin(), 1) - 1)];
  return of_length[std::min<std::size_t>(std::max(position, 1u), of_length.size()) - 1];
}

}  // namespace

double FittedAcceptance::at(double billions, std::uint32_t position, std::uint64_t length, double size_exponent) const {
  const auto beyond = [&](const Draft& end) {
    const double miss = (1 - acceptance(end, position, length)) *
                        workload::portable_pow(std::max(billions, 1e-6) / end.billions, -size_exponent);
    return std::clamp(1 - miss, 0.0, 1.0);
  };
  const auto above =
      std::lower_bound(drafts.begin(), drafts.end(), billions, [](const Draft& d, double b) { return d.billions < b; });
  if (above == drafts.begin() || above == drafts.end()) return beyond(above == drafts.begin() ? *above : drafts.back());
  const Draft &small = *(above - 1), &large = *above;
  const double way =
      workload::portable_log(billions / small.billions) / workload::portable_log(large.billions / small.billions);
  const double low = acceptance(small, position, length), high = acceptance(large, position, length);
  return std::clamp(low + way * (high - low), 0.0, 1.0);
}

Result<FittedAcceptance> open_acceptance(const std::string& path, double billions) {
  const Result<std::vector<twin::DraftCurve>> curves = twin::read_acceptance(path);
  if (!curves) return tl::unexpected(curves.error());
  FittedAcceptance fitted;
  const auto base = static_cast<double>(curves->front().parameter_bytes);
  for (const twin::DraftCurve& curve : *curves)
    fitted.drafts.push_back(draft_of(curve, billions * static_cast<double>(curve.parameter_bytes) / base));
  std::stable_sort(fitted.drafts.begin(), fitted.drafts.end(),
                   [](const auto& a, const auto& b) { return a.billions < b.billions; });
  // Of two drafts of one size the first in the file counts.
  const auto same = std::unique(fitted.drafts.begin(), fitted.drafts.end(),
                                [](const auto& a, const auto& b) { return a.billions == b.billions; });
  fitted.drafts.erase(same, fitted.drafts.end());
  return fitted;
}

}  // namespace dmprof::simcard
