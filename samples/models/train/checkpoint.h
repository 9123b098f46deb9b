// Training state on disk: step, weights and both AdamW moments, so that a stopped run goes on where it was.
#pragma once

#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "samples/models/train/optimizer.h"

namespace dmprof::train {

// Replaces the file in one rename: a run killed while saving leaves the checkpoint before.
Status save_checkpoint(const std::string& path, int step, const std::vector<float>& parameters, const AdamW& adam);

// Returns the step to go on from; 0, and nothing changed, when the file does not exist.
Result<int> load_checkpoint(const std::string& path, std::vector<float>& parameters, AdamW& adam);

}  // namespace dmprof::train
