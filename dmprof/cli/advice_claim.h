// The published case of a 70B model fitted to a B200 (FACTS.md B9) beside what the calculator gives for it.
#pragma once

#include <string>

#include "dmprof/base/error.h"

namespace dmprof::cli {

// Names neither changes nor a load: rows for two shapes of 70B, batch 8, one token a pass and contexts of 4K to 128K.
// Markdown, which people can read as it is.
Result<std::string> claim_text();

}  // namespace dmprof::cli
