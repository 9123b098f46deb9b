// Knobs of a question, checked against those the recording registers.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "analyzers/whatif/whatif.h"

namespace dmprof::whatif {

// Every knob after the change, by name, and what changed. Errors as Model::predict.
struct Asked {
  std::map<std::string, std::string> values;
  std::vector<Change> changes;
  bool changed(const std::string& knob) const;
};
Result<Asked> ask(const Recording& recording, std::span<const Setting> settings);

// Values as the recording registers them, newest first come.
std::map<std::string, std::string> recorded_values(const Recording& recording);

// Whole numbers, with a binary or decimal size suffix where the knob counts bytes ("4MiB", "2MB"). Nothing for others.
std::optional<std::uint64_t> whole(const std::string& text);

// Does the knob's range ("0|1|2", "1..16", an unknown form) admit the value?
bool admits(const std::string& range, const std::string& value);

}  // namespace dmprof::whatif
