// What the figures of a recording cover, where that is less than everything: people must be told.
#pragma once

#include <string>

#include "dmprof/store/reader.h"

namespace dmprof::cli {

// The recorder ended before it could finish the recording: killed, or out of space.
Result<bool> is_broken_off(const Reader& reader);

// Why the recording is too short to judge an engine by, as a sentence: the engine or its recorder ended before more
// than a handful of steps were committed. "" where it is long enough, and where an engine simply reports no steps.
Result<std::string> too_short(const Reader& reader);

// "8,192 bytes are missing at the end of …": a file that was cut off; "" for a whole one.
std::string cut_off_note(const std::string& recording);

// "2 processes: engine (pid 7), draft (pid 9); the figures are those of process 7 (engine) of 2 recorded" and, or, that
// the recording is too short, broke off or is cut off; "" where everything is covered.
Result<std::string> coverage_note(const Reader& reader);

}  // namespace dmprof::cli
