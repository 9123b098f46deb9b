#include "dmprof/workload/lengths.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "dmprof/workload/portable_math.h"

namespace dmprof::workload {

Status Lengths::check() const {
  if (least < 1 || most < least || most > 100'000'000)
    return fail(
        ErrorKind::bad_input,
        fmt::format("lengths from {} to {} are not possible; need 1 <= least <= most <= 100000000", least, most));
  if (!(typical >= 1) || typical > 1e8)
    return fail(ErrorKind::bad_input, fmt::format("a typical length of {} is not possible; write 1 to 1e8", typical));
  if (!(spread >= 0) || spread > 10)
    return fail(ErrorKind::bad_input, fmt::format("a spread of {} is not possible; write 0 to 10", spread));
  return {};
}

std::int64_t Lengths::draw(Random& random) const {
  double length = typical;
  switch (kind) {
    case Kind::fixed:
      break;
    case Kind::uniform:
      return random.between(least, most);
    case Kind::geometric:
      length = 1 + std::floor(random.exponential(typical - 0.5));
      break;
    case Kind::lognormal:
      length = std::floor(typical * portable_exp(spread * random.normal()) + 0.5);
      break;
  }
  return static_cast<std::int64_t>(std::clamp(length, static_cast<double>(least), static_cast<double>(most)));
}

}  // namespace dmprof::workload
