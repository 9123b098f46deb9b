// Hardware and models by name, as the program carries them, or from a YAML file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzers/plan/hardware.h"
#include "analyzers/plan/shape.h"
#include "dmprof/base/error.h"

namespace dmprof::cli {

std::vector<std::string> hardware_names();
std::vector<std::string> model_names();

// `name`: one of the above, or a file where it holds a '/' or ends in .yaml. Errors: usage for a name nobody knows,
// with the nearest; else those of the file, with line and key.
Result<plan::Hardware> hardware_named(std::string_view flag, const std::string& name);
Result<plan::ModelShape> model_named(std::string_view flag, const std::string& name);

}  // namespace dmprof::cli
