#include "samples/simcard/speculation/acceptance.h"

#include <algorithm>
#include <utility>

#include "samples/simcard/core/math.h"

namespace dmprof::simcard {

double AcceptanceCurve::at(double billions, std::uint32_t position, std::uint64_t length) const {
  if (fitted != nullptr) return fitted->at(billions, position, length, size_exponent);
  double a = 1 - std::min(1.0, miss_at_1b * math::pow(std::max(billions, 1e-6), -size_exponent));
  a *= math::pow(position_decay, static_cast<double>(std::max(position, 1u) - 1));
  if (length > short_length) {
    const double doublings = math::log(static_cast<double>(length) / short_length) / math::log(2);
    a *= std::max(0.0, 1 - length_loss * doublings);
  }
  return std::clamp(a, 0.0, 1.0);
}

Status use_fit(const std::string& path, AcceptanceCurve& curve) {
  Result<FittedAcceptance> fitted = open_acceptance(path, curve.fitted_billions);
  if (!fitted) return tl::unexpected(fitted.error());
  curve.fitted = std::make_shared<const FittedAcceptance>(std::move(*fitted));
  return {};
}

}  // namespace dmprof::simcard
