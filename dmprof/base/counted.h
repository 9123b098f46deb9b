// A number with what it counts, in the right number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dmprof {

// "1 byte", "2 bytes". `one` is a noun whose plural takes an s; the number is written without separators.
inline std::string counted(std::uint64_t number, std::string_view one) {
  return std::to_string(number) + ' ' + std::string(one) + (number == 1 ? "" : "s");
}

}  // namespace dmprof
