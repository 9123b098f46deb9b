// Metric values of a recording: stored ones where they were computed with today's definition from what the
// recording holds today, the others computed now.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "analyzers/registry/catalogue.h"
#include "dmprof/base/error.h"
#include "dmprof/store/reader.h"

namespace dmprof::cli {

const Catalogue& catalogue();  // every metric of this build

struct Evaluation {
  std::vector<MetricValue> values;  // one per name, in order
  std::string note;                 // what was left out of the recording, "" = nothing
  bool all_ok() const;
};

// Errors: usage for an unknown name, else what the reader says.
Result<Evaluation> evaluate(const Reader& reader, std::span<const std::string> names, const EvaluateOptions& options);

// Computes every metric and stores them in the finished recording, so that later questions need no events.
Result<Evaluation> evaluate_and_store(const std::filesystem::path& recording);

}  // namespace dmprof::cli
