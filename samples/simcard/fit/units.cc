#include "samples/simcard/fit/units.h"

#include <fmt/format.h>

#include <cmath>

#include "dmprof/base/quantity.h"

namespace dmprof::twin {
namespace {

tl::unexpected<Error> wrong(std::string_view text, std::string_view example) {
  return fail(ErrorKind::usage, fmt::format("\"{}\" is not understood; write it as {}", text.substr(0, 40), example));
}

}  // namespace

Result<Throttle> parse_throttle(std::string_view text) {
  constexpr std::string_view prefix = "throttle:", example = "throttle:1GB/s,300us";
  if (!text.starts_with(prefix)) return wrong(text, example);
  const std::string_view rest = text.substr(prefix.size());
  const std::size_t comma = rest.find(',');
  const auto rate = parse_quantity(rest.substr(0, comma), Quantity::bandwidth);
  if (!rate || *rate < 1e3 || *rate > 1e15) return wrong(text, example);
  Throttle throttle{*rate, 0};
  if (comma != std::string_view::npos) {
    const auto latency = parse_quantity(rest.substr(comma + 1), Quantity::duration);
    if (!latency || *latency > 10) return wrong(text, example);
    throttle.latency = static_cast<std::int64_t>(std::round(*latency * 1e9));
  }
  return throttle;
}

}  // namespace dmprof::twin
