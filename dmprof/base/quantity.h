// Numbers as people write them, in descriptions, flags and variables: "3TB/s", "128GiB", "10ns", "0.5pJ/bit", "87%".
// The unit says what the number is, so that a size where a bandwidth belongs is refused and not silently read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dmprof/base/error.h"

namespace dmprof {

// What a key measures, and the unit its value is returned in.
enum class Quantity {
  number,           // a plain number, no unit
  ratio,            // within [0, 1]; "0.25" or "25%"
  size,             // bytes: B, kB, MB, GB, TB, PB (powers of 1000), KiB, MiB, GiB, TiB, PiB (powers of 1024)
  bandwidth,        // bytes per second: a size and "/s"; network links in bits: "400Gb/s"
  duration,         // seconds: ps, ns, us, ms, s
  compute,          // FLOP per second: "990TFLOP/s"
  energy_per_bit,   // joules per bit: "3.9pJ/bit"
  energy_per_flop,  // joules per FLOP: "0.6pJ/FLOP"
  power,            // watts: mW, W, kW
  rate,             // events per second: "12/s"
};

// The name of a quantity for messages ("a bandwidth"), and an example of how it is written ("3TB/s").
std::string_view quantity_name(Quantity quantity);
std::string_view quantity_example(Quantity quantity);

// Reads `text` as `quantity`. The error holds only what is wrong and how to mend it: the caller knows file, line and
// key. Not finite, negative, or absurdly large (above 1e30) values are errors. Thread-safe.
Result<double> parse_quantity(std::string_view text, Quantity quantity);

// The finite number that `text` is, all of it, in decimal as std::from_chars reads it: no blanks, no unit, no "inf", no
// hexadecimal, the same in every locale. Nothing for any other text. Thread-safe.
std::optional<double> plain_number(std::string_view text);

// Values of flags and variables, without blanks around them; `what` names the flag in the error (usage).
// Decimal digits only, low..high.
Result<std::uint64_t> parse_whole(std::string_view what, std::string_view text, std::uint64_t low, std::uint64_t high);
// A finite decimal number, low..high.
Result<double> parse_real(std::string_view what, std::string_view text, double low, double high);
// Bytes, rounded: as Quantity::size, or a plain number; below 2^62.
Result<std::uint64_t> parse_size(std::string_view what, std::string_view text);

}  // namespace dmprof
