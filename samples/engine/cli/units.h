// Numbers, sizes and modes as people type them, the same for flags and variables. Every function names the offending
// text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dmprof/base/error.h"

namespace dmengine {

// Decimal digits only, low..high. `what` names the flag or variable in the error (usage).
dmprof::Result<std::uint64_t> parse_whole(std::string_view what, std::string_view text, std::uint64_t low,
                                          std::uint64_t high);
// A finite decimal number, low..high.
dmprof::Result<double> parse_real(std::string_view what, std::string_view text, double low, double high);
// Bytes: a whole or decimal number with B, kB, MB, GB (powers of 1000) or KiB, MiB, GiB (powers of 1024); no unit =
// bytes.
dmprof::Result<std::uint64_t> parse_size(std::string_view what, std::string_view text);

// The candidate nearest to `text` by edit distance; empty when none is near enough to be a typing error.
std::string nearest(std::string_view text, const std::vector<std::string>& candidates);

}  // namespace dmengine
