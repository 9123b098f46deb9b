// A model file that was opened: its layout, its vocabulary, and once weights are there, the model.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "samples/engine/model/model.h"
#include "samples/engine/tokenizer/tokenizer.h"

namespace dmengine {

struct ModelFile {
  // bad_input or environment, as the reader says it.
  static dmprof::Result<std::unique_ptr<ModelFile>> open(const std::string& path);

  std::string path;
  std::shared_ptr<const ModelLayout> layout;
  Tokenizer tokenizer;
  std::unique_ptr<WeightSource> resident;  // all weights in memory; null when they are streamed
  std::unique_ptr<Model> model;
};

// Speculation compares token by token: both models must mean the same by an id. bad_input names both files.
Status same_vocabulary(const ModelFile& target, const ModelFile& draft);

}  // namespace dmengine
