// The version of the program, as CMake's project() states it.
#pragma once

#include <string_view>

namespace dmprof {

inline constexpr std::string_view version = DMPROF_VERSION;

}  // namespace dmprof
