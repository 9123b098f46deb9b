// The shape of the model a recording was made with, as its engine registered it (facts named model.…, dmprof/sdk).
#pragma once

#include "analyzers/plan/shape.h"
#include "analyzers/registry/recording.h"
#include "dmprof/base/error.h"

namespace dmprof::cli {

// Errors: cannot_answer where the engine registered none or only a part, which is named; bad_input for a value outside
// what a shape can be.
Result<plan::ModelShape> recorded_model(const Recording& recording);

}  // namespace dmprof::cli
