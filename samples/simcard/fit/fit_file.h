// A fitted twin as a file: YAML with a comment for every section, or JSON (the same keys) where the name ends in .json.
// Reading takes both and trusts neither: every number, id and length is checked, errors name file, line and key.
#pragma once

#include <string>

#include "samples/simcard/fit/fit.h"

namespace dmprof::twin {

std::string to_text(const Fit& fit, bool json);
// `name` stands for the input in errors. bad_input.
Result<Fit> parse_fit(const std::string& text, const std::string& name);

// environment where the file cannot be written or read. An existing file is replaced only when the new one is complete.
Status write_fit(const Fit& fit, const std::string& path);
Result<Fit> read_fit(const std::string& path);

}  // namespace dmprof::twin
