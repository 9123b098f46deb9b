// Which processes a recording holds, for people: figures of several are taken together, and must say so.
#pragma once

#include <string>

#include "dmprof/store/reader.h"

namespace dmprof::cli {

// "2 processes: engine (pid 7), draft (pid 9); the figures cover them together", "" when there is at most one.
Result<std::string> processes_note(const Reader& reader);

}  // namespace dmprof::cli
