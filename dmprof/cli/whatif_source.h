// A recording made ready for what-if questions: loaded, with the metric values that predictions start from.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analyzers/whatif/whatif.h"
#include "dmprof/base/error.h"

namespace dmprof::cli {

class WhatIfSource {
 public:
  // `profiles`: recordings named with --profile. Errors are the reader's, and name the file.
  static Result<std::unique_ptr<WhatIfSource>> open(const std::filesystem::path& recording,
                                                    const std::vector<std::string>& profiles);

  const whatif::Model& model() const { return *model_; }
  const std::string& note() const { return recording_.note; }  // what was left out, "" = nothing

 private:
  WhatIfSource() = default;

  Recording recording_;
  std::vector<MetricValue> values_;
  std::vector<std::unique_ptr<Recording>> profiles_;
  std::unique_ptr<whatif::Model> model_;
};

}  // namespace dmprof::cli
