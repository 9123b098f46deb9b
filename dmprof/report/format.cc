#include "dmprof/report/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace dmprof::report {

namespace {

struct Prefix {
  double factor;
  std::string_view name;
};

// Three significant digits without an exponent, for a value that was scaled to 1 … 1000 where a prefix could do that.
std::string digits(double value) {
  const double size = std::fabs(value);
  if (value == std::floor(value) && size < 1000) return fmt::format("{:.0f}", value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  if (size >= 0.9995) return fmt::format("{:.2f}", value);
  if (size >= 0.001) return fmt::format("{:.3f}", value);
  return fmt::format("{:.2g}", value);
}

template <std::size_t N>
std::string scaled(double value, const std::array<Prefix, N>& prefixes, std::string_view unit) {
  const Prefix* best = &prefixes.front();
  for (const Prefix& prefix : prefixes) {
    if (std::fabs(value) >= prefix.factor * 0.9995) best = &prefix;
  }
  return fmt::format("{} {}{}", digits(value / best->factor), best->name, unit);
}

constexpr std::array<Prefix, 5> decimal = {{{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}}};
constexpr std::array<Prefix, 4> times = {{{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}};

// Decodes one character; returns its length in bytes, 0 when the bytes are no valid UTF-8 there.
std::size_t decode_character(std::string_view text, char32_t& character) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) {
    character = lead;
    return 1;
  }
  const std::size_t length = lead >= 0xf0 && lead < 0xf5 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length == 0 || lead >= 0xf5 || text.size() < length) return 0;
  character = lead & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
    character = (character << 6) | (at(i) & 0x3fu);
  }
  const bool too_long = (length == 3 && character < 0x800) || (length == 4 && character < 0x10000);
  return too_long || character > 0x10ffff || (character >= 0xd800 && character < 0xe000) ? 0 : length;
}

bool is_wide(char32_t c) {
  return (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) || (c >= 0xac00 && c <= 0xd7a3) ||
         (c >= 0xf900 && c <= 0xfaff) || (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
         (c >= 0xffe0 && c <= 0xffe6) || (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd);
}

}  // namespace

std::string quantity(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "not a number";
  if (unit == "ns") return scaled(value, times, "");
  if (unit == "ratio") return percent(value);
  if (unit == "B/s" || unit == "FLOP/s" || unit == "OP" || unit == "bytes" || unit == "B")
    return scaled(value, decimal, unit == "bytes" ? "B" : unit);
  if (value == std::floor(value) && std::fabs(value) < 1e15)
    return fmt::format("{}{} {}", value < 0 ? "-" : "", thousands(static_cast<std::uint64_t>(std::fabs(value))), unit);
  if (value >= 1000 && value < 1e15)
    return fmt::format("{} {}", thousands(static_cast<std::uint64_t>(value + 0.5)), unit);
  return fmt::format("{} {}", digits(value), unit);
}

std::string thousands(std::uint64_t count) {
  const std::string plain = std::to_string(count);
  std::string text;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (i > 0 && (plain.size() - i) % 3 == 0) text += ',';
    text += plain[i];
  }
  return text;
}

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string bytes(std::uint64_t count) { return scaled(static_cast<double>(count), decimal, "B"); }

std::string printable(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    char32_t character = 0;
    const std::size_t length = decode_character(text, character);
    const bool control = character < 0x20 || (character >= 0x7f && character < 0xa0);
    if (length == 0 || control) {
      safe += '?';
    } else {
      safe += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return safe;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    char32_t character = 0;
    const std::size_t length = decode_character(text, character);
    width += length > 0 && is_wide(character) ? 2 : 1;
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return width;
}

std::string padded(std::string_view text, std::size_t width, bool right) {
  const std::size_t used = display_width(text);
  const std::string blanks(used < width ? width - used : 0, ' ');
  return right ? blanks + std::string(text) : std::string(text) + blanks;
}

}  // namespace dmprof::report
