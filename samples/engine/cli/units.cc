#include "samples/engine/cli/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

namespace dmengine {
namespace {

using dmprof::ErrorKind;
using dmprof::fail;
using dmprof::Result;

std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 60)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return out;
}

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, changed});
    }
  }
  return row.back();
}

}  // namespace

Result<std::uint64_t> parse_whole(std::string_view what, std::string_view text, std::uint64_t low, std::uint64_t high) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
    return fail(ErrorKind::usage,
                fmt::format("{} must be a whole number from {} to {}, not \"{}\"", what, low, high, shown(text)));
  }
  return value;
}

Result<double> parse_real(std::string_view what, std::string_view text, double low, double high) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || !(value >= low && value <= high)) {
    return fail(ErrorKind::usage,
                fmt::format("{} must be a number from {} to {}, not \"{}\"", what, low, high, shown(text)));
  }
  return value;
}

Result<std::uint64_t> parse_size(std::string_view what, std::string_view text) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  static constexpr std::array<Unit, 8> units{{{"", 1},
                                              {"B", 1},
                                              {"kB", 1e3},
                                              {"MB", 1e6},
                                              {"GB", 1e9},
                                              {"KiB", 1024.0},
                                              {"MiB", 1048576.0},
                                              {"GiB", 1073741824.0}}};
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  const std::string_view suffix = error == std::errc{} ? std::string_view(end, text.data() + text.size() - end) : text;
  const auto unit = std::find_if(units.begin(), units.end(), [suffix](const Unit& u) { return u.name == suffix; });
  if (error != std::errc{} || unit == units.end() || !(value >= 0) || value * unit->bytes >= 0x1p62) {
    return fail(ErrorKind::usage,
                fmt::format("{} must be a size such as 8MiB, 500kB or 1048576, not \"{}\"", what, shown(text)));
  }
  return static_cast<std::uint64_t>(std::llround(value * unit->bytes));
}

std::string nearest(std::string_view text, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t least = std::max<std::size_t>(2, text.size() / 4) + 1;
  for (const auto& candidate : candidates) {
    const std::size_t d = distance(text, candidate);
    if (d < least) {
      least = d;
      best = candidate;
    }
  }
  return best;
}

}  // namespace dmengine
