#include "dmprof/base/quantity.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace dmprof {
namespace {

struct Unit {
  std::string_view text;
  Quantity quantity;
  double scale;
};

constexpr double kibi = 1024.0;

// Bits are spelled with a small b, bytes with a capital B, as networks and memories are.
constexpr std::array units = {
    Unit{"B", Quantity::size, 1},
    Unit{"kB", Quantity::size, 1e3},
    Unit{"MB", Quantity::size, 1e6},
    Unit{"GB", Quantity::size, 1e9},
    Unit{"TB", Quantity::size, 1e12},
    Unit{"PB", Quantity::size, 1e15},
    Unit{"KiB", Quantity::size, kibi},
    Unit{"MiB", Quantity::size, kibi* kibi},
    Unit{"GiB", Quantity::size, kibi* kibi* kibi},
    Unit{"TiB", Quantity::size, kibi* kibi* kibi* kibi},
    Unit{"PiB", Quantity::size, kibi* kibi* kibi* kibi* kibi},
    Unit{"B/s", Quantity::bandwidth, 1},
    Unit{"kB/s", Quantity::bandwidth, 1e3},
    Unit{"MB/s", Quantity::bandwidth, 1e6},
    Unit{"GB/s", Quantity::bandwidth, 1e9},
    Unit{"TB/s", Quantity::bandwidth, 1e12},
    Unit{"PB/s", Quantity::bandwidth, 1e15},
    Unit{"MiB/s", Quantity::bandwidth, kibi* kibi},
    Unit{"GiB/s", Quantity::bandwidth, kibi* kibi* kibi},
    Unit{"TiB/s", Quantity::bandwidth, kibi* kibi* kibi* kibi},
    Unit{"Mb/s", Quantity::bandwidth, 1e6 / 8},
    Unit{"Gb/s", Quantity::bandwidth, 1e9 / 8},
    Unit{"Tb/s", Quantity::bandwidth, 1e12 / 8},
    Unit{"ps", Quantity::duration, 1e-12},
    Unit{"ns", Quantity::duration, 1e-9},
    Unit{"us", Quantity::duration, 1e-6},
    Unit{"ms", Quantity::duration, 1e-3},
    Unit{"s", Quantity::duration, 1},
    Unit{"FLOP/s", Quantity::compute, 1},
    Unit{"MFLOP/s", Quantity::compute, 1e6},
    Unit{"GFLOP/s", Quantity::compute, 1e9},
    Unit{"TFLOP/s", Quantity::compute, 1e12},
    Unit{"PFLOP/s", Quantity::compute, 1e15},
    Unit{"fJ/bit", Quantity::energy_per_bit, 1e-15},
    Unit{"pJ/bit", Quantity::energy_per_bit, 1e-12},
    Unit{"nJ/bit", Quantity::energy_per_bit, 1e-9},
    Unit{"fJ/FLOP", Quantity::energy_per_flop, 1e-15},
    Unit{"pJ/FLOP", Quantity::energy_per_flop, 1e-12},
    Unit{"mW", Quantity::power, 1e-3},
    Unit{"W", Quantity::power, 1},
    Unit{"kW", Quantity::power, 1e3},
    Unit{"MW", Quantity::power, 1e6},
    Unit{"/s", Quantity::rate, 1},
    Unit{"%", Quantity::ratio, 0.01},
};

const Unit* find_unit(std::string_view text) {
  for (const Unit& unit : units) {
    if (unit.text == text) return &unit;
  }
  return nullptr;
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// A bad value may be megabytes long or hold control characters; a message shows its beginning.
std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 40)) out += (c >= ' ' && c <= '~') ? c : '?';
  if (text.size() > 40) out += "...";
  return out;
}

tl::unexpected<Error> wrong(std::string_view text, std::string_view what, Quantity quantity) {
  std::string known;
  for (const Unit& unit : units) {
    if (unit.quantity == quantity && quantity != Quantity::ratio)
      known += (known.empty() ? ", in " : ", ") + std::string(unit.text);
  }
  return fail(ErrorKind::bad_input, fmt::format("\"{}\" {}; write {} such as \"{}\"{}", shown(text), what,
                                                quantity_name(quantity), quantity_example(quantity), known));
}

}  // namespace

std::string_view quantity_name(Quantity quantity) {
  switch (quantity) {
    case Quantity::number:
      return "a number";
    case Quantity::ratio:
      return "a share between 0 and 1";
    case Quantity::size:
      return "a size";
    case Quantity::bandwidth:
      return "a bandwidth";
    case Quantity::duration:
      return "a duration";
    case Quantity::compute:
      return "a compute rate";
    case Quantity::energy_per_bit:
      return "an energy per bit";
    case Quantity::energy_per_flop:
      return "an energy per FLOP";
    case Quantity::power:
      return "a power";
    case Quantity::rate:
      return "a rate";
  }
  return "a value";
}

std::string_view quantity_example(Quantity quantity) {
  switch (quantity) {
    case Quantity::number:
      return "8";
    case Quantity::ratio:
      return "0.25";
    case Quantity::size:
      return "128GB";
    case Quantity::bandwidth:
      return "3TB/s";
    case Quantity::duration:
      return "10ns";
    case Quantity::compute:
      return "990TFLOP/s";
    case Quantity::energy_per_bit:
      return "3.9pJ/bit";
    case Quantity::energy_per_flop:
      return "0.6pJ/FLOP";
    case Quantity::power:
      return "700W";
    case Quantity::rate:
      return "12/s";
  }
  return "";
}

Result<double> parse_quantity(std::string_view text, Quantity quantity) {
  const std::string_view all = trimmed(text);
  double value = 0;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), value);
  if (error != std::errc()) return wrong(text, "is not a number", quantity);
  const std::string_view unit_text = trimmed(all.substr(static_cast<std::size_t>(end - all.data())));
  if (unit_text.empty()) {
    if (quantity != Quantity::number && quantity != Quantity::ratio && value != 0)
      return wrong(text, "has no unit", quantity);
  } else {
    const Unit* unit = find_unit(unit_text);
    if (!unit) return wrong(text, "has a unit that is not known", quantity);
    if (unit->quantity != quantity)
      return wrong(text, fmt::format("is {}, not {}", quantity_name(unit->quantity), quantity_name(quantity)),
                   quantity);
    value *= unit->scale;
  }
  if (!std::isfinite(value) || value > 1e30) return wrong(text, "is beyond every machine", quantity);
  if (value < 0) return wrong(text, "is negative", quantity);
  if (quantity == Quantity::ratio && value > 1) return wrong(text, "is above 1", quantity);
  return value;
}

std::optional<double> plain_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

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
  const bool bare = !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
  const Result<double> bytes = parse_quantity(text, bare ? Quantity::number : Quantity::size);
  if (!bytes || *bytes >= 0x1p62 || text.find_first_of(" \t") != std::string_view::npos) {
    return fail(ErrorKind::usage,
                fmt::format("{} must be a size such as 8MiB, 500kB or 1048576, not \"{}\"", what, shown(text)));
  }
  return static_cast<std::uint64_t>(std::llround(*bytes));
}

}  // namespace dmprof
