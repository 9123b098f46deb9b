// What the figures of a recording cover, where that is less than everything: people must be told.
#pragma once

#include <string>

#include "dmprof/store/reader.h"

namespace dmprof::cli {

// The recorder ended before it could finish the recording: killed, or out of space.
Result<bool> is_broken_off(const Reader& reader);

// "2 processes: engine (pid 7), draft (pid 9); the figures are those of process 7 (engine) of 2 recorded" and, or, that
// the recording broke off; "" where everything is covered.
Result<std::string> coverage_note(const Reader& reader);

}  // namespace dmprof::cli
