// The descriptions the program carries: samples/simcard/models, samples/simcard/presets, samples/scenarios.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dmprof/base/description/document.h"
#include "dmprof/base/error.h"

namespace dmprof::simcard {

struct EmbeddedDescription {
  std::string_view kind;  // "models", "presets", "scenarios"
  std::string_view name;  // the file's name without ".yaml"
  std::string_view path;  // from the repository's root, for messages
  std::string_view text;
};

// In order of kind and name.
const std::vector<EmbeddedDescription>& embedded_descriptions();

// The description called `name`, or the file when `name` holds a '/' or ends in ".yaml". The error lists near names.
Result<Document> open_description(std::string_view kind, const std::string& name);

}  // namespace dmprof::simcard
